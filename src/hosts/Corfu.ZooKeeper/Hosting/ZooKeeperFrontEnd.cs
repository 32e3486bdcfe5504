using System.Net;
using Corfu.Server;
using Corfu.ZooKeeper.Auth;
using Corfu.ZooKeeper.Connections;
using Corfu.ZooKeeper.Serving;
using Corfu.ZooKeeper.Sessions;
using Microsoft.AspNetCore.Connections;

namespace Corfu.ZooKeeper.Hosting;

/// <summary>Serves a tree to clients of ZooKeeper's protocol. Any number of equal front ends may serve one
/// tree.</summary>
public sealed class ZooKeeperFrontEnd : IServing, IAsyncDisposable
{
    private static readonly TimeSpan s_look = TimeSpan.FromMilliseconds(250);

    private readonly FrontEndServices _services;
    private readonly FrontEndLease _lease;
    private readonly ZooKeeperFrontEndOptions _options;
    private readonly CancellationTokenSource _stop = new();
    private readonly FrontEndPartitions _partitions;
    private ITimer? _looking;
    private ClientPort? _ownPort;
    private ClientPort? _port;
    private Task _beating = Task.CompletedTask;

    private ZooKeeperFrontEnd(
        TangoRuntime runtime, ZooKeeperTree tree, ZooKeeperFrontEndOptions options, TimeProvider time)
    {
        _options = options;
        var logger = options.Loggers.CreateLogger<ZooKeeperFrontEnd>();
        var dispatcher = new Dispatcher(logger, time, FrontEndLease.Length,
            new ConnectionTable(options.Limits), options.ReadOnly);
        _partitions = new FrontEndPartitions(
            runtime, TreePartitions.Of(runtime, options.Service, tree, time), dispatcher, options.Host);
        dispatcher.IsWhole = () => _partitions.IsWhole;
        dispatcher.SharedPlayed += _partitions.OnPlayed;
        dispatcher.Mounted += () => LoopContext.Pool.Start(PrepareAsync);
        var sync = new SyncWaiters(dispatcher, tree, _partitions, _stop.Token);
        dispatcher.Advanced += sync.OnAdvanced;
        _services = new FrontEndServices(dispatcher, _partitions, sync, new Credentials(options.SuperDigest),
            new FrontEndIdentity(), new RequestCounters(), logger, time)
        {
            Stopped = _stop.Token,
            Settings = SettingsOf(options),
            Service = options.Service,
            AreReadsLinearizable = options.Reads == ZooKeeperReads.Linearizable,
            Tls = options.Tls is { } tls
                ? new ClientTls(tls, new TlsListenOptions
                {
                    HandshakeTimeout = ConnectionLimits.Handshake,
                    Time = time,
                    Logger = logger,
                })
                : null,
        };
        _lease = new FrontEndLease(_services, new SessionTracker(_services), options.Listen.ToString());
    }

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
            lock (_services.Dispatcher.Gate) return _services.Dispatcher.Fault;
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
        var frontEnd = new ZooKeeperFrontEnd(runtime, tree, options, time) { _port = port };
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
        await _stop.CancelAsync().ConfigureAwait(false);
        FrontEndGauges.FrontEnds.Remove(_services);
        FrontEndGauges.Serving.Remove(this);
        if (_port is not null) _port.Serve = null;
        await _beating.ConfigureAwait(false);
        if (_looking is not null) await _looking.DisposeAsync().ConfigureAwait(false);
        lock (_services.Dispatcher.Gate) _services.Dispatcher.Leave();
        if (_ownPort is not null) await _ownPort.DisposeAsync().ConfigureAwait(false);
        if (_lease.First.IsCompletedSuccessfully)
        {
            // A log that is away does not hold the process.
            using var limit = new CancellationTokenSource(FrontEndLease.Length, _services.Time);
            await _lease.LeaveAsync(limit.Token).ConfigureAwait(false);
        }

        _partitions.Dispose();
        _services.Tls?.Dispose();
        _stop.Dispose();
    }

    private static ImmutableArray<KeyValuePair<string, string>> SettingsOf(ZooKeeperFrontEndOptions options) =>
    [
        new("clientPort", $"{options.Listen.Port}"),
        new("maxClientCnxns", $"{options.Limits.MaxConnectionsPerAddress}"),
        new("minSessionTimeout", $"{ConnectionLimits.ShortestTimeout}"),
        new("maxSessionTimeout", $"{ConnectionLimits.LongestTimeout}"),
        new("service", options.Service),
        new("reads", options.Reads == ZooKeeperReads.Linearizable ? "linearizable" : "session"),
        new("readonlymode.enabled", options.ReadOnly ? "true" : "false"),
    ];

    // A failure is met again by the next beat.
    private async Task PrepareAsync()
    {
        try
        {
            await _partitions.PrepareAsync(_stop.Token).ConfigureAwait(false);
        }
        catch (Exception e) when (LogFaults.IsFault(e) || e is OperationCanceledException)
        {
            FrontEndLog.NotTaken(_services.Logger, "mount", e);
        }
    }

    private async Task StartAsync(CancellationToken cancellationToken)
    {
        await _partitions.StartAsync(cancellationToken).ConfigureAwait(false);
        _beating = LoopContext.Pool.RunAsync(() => _lease.RunAsync(_stop.Token));
        _looking = _services.Time.CreateTimer(_ => _lease.Look(), null, s_look, s_look);
        await _lease.First.WaitAsync(cancellationToken).ConfigureAwait(false);
        _port ??= _ownPort = await ClientPort.OpenAsync(_options, cancellationToken).ConfigureAwait(false);
        _port.Serve = ServeAsync;
        EndPoint = _port.EndPoint;
        FrontEndGauges.FrontEnds.Add(_services);
        // Another's port has a server that tells for its front ends.
        if (_ownPort is not null) FrontEndGauges.Serving.Add(this);
        FrontEndLog.Serving(_services.Logger, EndPoint.ToString());
    }

    private Task ServeAsync(ConnectionContext context) =>
        new ZooConnection(_services, context.RemoteEndPoint).ServeAsync(context);
}
