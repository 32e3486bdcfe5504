using System.Net;
using Corfu.Server;
using Corfu.ZooKeeper.Serving;

namespace Corfu.ZooKeeper.Hosting;

/// <summary>Serves a tree to clients of ZooKeeper's protocol. Any number of equal front ends may serve one
/// tree.</summary>
public sealed class ZooKeeperFrontEnd : IServing, IAsyncDisposable
{
    private readonly PortlessFrontEnd _frontEnd;
    private readonly ZooKeeperFrontEndOptions _options;
    private ClientPort? _ownPort;
    private ClientPort? _port;
    private int _disposed;

    private ZooKeeperFrontEnd(PortlessFrontEnd frontEnd, ZooKeeperFrontEndOptions options, ClientPort? port) =>
        (_frontEnd, _options, _port) = (frontEnd, options, port);

    /// <summary>Options of the runtime that a front end needs.</summary>
    public static TangoOptions RuntimeOptions { get; } = new()
    {
        // Entries of a front end never overtake each other: a client's writes take effect in its order.
        MaxAppendsInFlight = 1,
        MaxBatchRecords = 512,
        MaxBatchBytes = 256 << 10,
        PublishEvery = 16,
        IdlePlayback = TimeSpan.FromMilliseconds(5),
    };

    /// <summary>The address at which the front end listens.</summary>
    public IPEndPoint EndPoint { get; private set; } = new(IPAddress.None, 0);

    /// <summary>Why clients are not served now, for operators; null: they are.</summary>
    public string? Fault
    {
        get
        {
            var dispatcher = _frontEnd.Services.Dispatcher;
            lock (dispatcher.Gate) return dispatcher.Fault;
        }
    }

    string IServing.Service => _options.Service;

    /// <param name="runtime">With <see cref="RuntimeOptions"/>; stays the caller's.</param>
    /// <exception cref="ArgumentException">A limit, or a combination of options, is not allowed.</exception>
    /// <exception cref="CorfuException">The log does not answer.</exception>
    /// <exception cref="ListenException">The port is occupied.</exception>
    public static Task<ZooKeeperFrontEnd> StartAsync(TangoRuntime runtime, ZooKeeperFrontEndOptions options,
        TimeProvider? time = null, CancellationToken cancellationToken = default) =>
        StartAsync(runtime, options, null, time ?? TimeProvider.System, cancellationToken);

    /// <param name="port">Stays the caller's. Null: the front end opens one once it may serve.</param>
    internal static async Task<ZooKeeperFrontEnd> StartAsync(TangoRuntime runtime, ZooKeeperFrontEndOptions options,
        ClientPort? port, TimeProvider time, CancellationToken cancellationToken)
    {
        ZooKeeperLimits.Rules.Check(options.Limits);
        if (options is { ReadOnly: true, Reads: ZooKeeperReads.Linearizable })
            throw new ArgumentException("Linearizable reads and a read-only mode exclude each other", nameof(options));
        var tree = await TreeOpening.OpenAsync(runtime, options.Service, cancellationToken).ConfigureAwait(false);
        var frontEnd = new ZooKeeperFrontEnd(
            new PortlessFrontEnd(runtime, tree, options, new FrontEndEnvironment(time)), options, port);
        try
        {
            await frontEnd.StartAsync(cancellationToken).ConfigureAwait(false);
            return frontEnd;
        }
        catch
        {
            await frontEnd.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>Closes all clients, whose sessions go on at other front ends, and leaves the log's table.</summary>
    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _disposed, 1) != 0) return;
        FrontEndGauges.FrontEnds.Remove(_frontEnd.Services);
        FrontEndGauges.Serving.Remove(this);
        if (_port is not null) _port.Serve = null;
        await _frontEnd.StopAsync().ConfigureAwait(false);
        if (_ownPort is not null) await _ownPort.DisposeAsync().ConfigureAwait(false);
        await _frontEnd.DisposeAsync().ConfigureAwait(false);
    }

    private async Task StartAsync(CancellationToken cancellationToken)
    {
        await _frontEnd.StartAsync(cancellationToken).ConfigureAwait(false);
        _port ??= _ownPort = await ClientPort.OpenAsync(_options, cancellationToken).ConfigureAwait(false);
        _port.Serve = _frontEnd.ServeAsync;
        EndPoint = _port.EndPoint;
        FrontEndGauges.FrontEnds.Add(_frontEnd.Services);
        // Another's port has a server that tells for its front ends.
        if (_ownPort is not null) FrontEndGauges.Serving.Add(this);
        FrontEndLog.Serving(_frontEnd.Services.Logger, EndPoint.ToString());
    }
}
