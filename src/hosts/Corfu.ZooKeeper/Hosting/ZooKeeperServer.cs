using System.Net;
using Corfu.Client;
using Corfu.Server;
using Corfu.ZooKeeper.Serving;

namespace Corfu.ZooKeeper.Hosting;

/// <summary>
/// A front end of a cluster that may not answer yet, in a node of that cluster for instance. The port is open from the
/// start; until the tree is played, connections are closed without an answer.
/// </summary>
public sealed class ZooKeeperServer : IServing, IAsyncDisposable
{
    private static readonly TimeSpan s_retry = TimeSpan.FromMilliseconds(500);

    // Every node of a cluster may play the tree, and most of them have no client: a quarter of the usual rate.
    private static readonly TangoOptions s_runtime =
        ZooKeeperFrontEnd.RuntimeOptions with { IdlePlayback = TimeSpan.FromMilliseconds(20) };

    private readonly string _connection;
    private readonly CorfuClientOptions? _client;
    private readonly ZooKeeperFrontEndOptions _options;
    private readonly ClientPort _port;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _stop = new();
    private Task _running = Task.CompletedTask;
    private volatile ZooKeeperFrontEnd? _frontEnd;
    private volatile string _fault = "it connects to the log";
    private int _disposed;

    private ZooKeeperServer(
        string connection, CorfuClientOptions? client, ZooKeeperFrontEndOptions options, ClientPort port)
    {
        (_connection, _client, _options, _port) = (connection, client, options, port);
        _logger = options.Loggers.CreateLogger<ZooKeeperServer>();
    }

    /// <summary>The address at which the server listens.</summary>
    public IPEndPoint EndPoint => _port.EndPoint;

    /// <summary>Why clients are not served now, for operators; null: they are.</summary>
    public string? Fault => _frontEnd is { } frontEnd ? frontEnd.Fault : _fault;

    string IServing.Service => _options.Service;

    /// <summary>Opens the port, and begins to connect.</summary>
    /// <param name="connection">The cluster, as <see cref="ConnectionString"/>.</param>
    /// <param name="client">Null: defaults.</param>
    /// <exception cref="ArgumentException">A limit is not allowed.</exception>
    /// <exception cref="ListenException">The port is occupied.</exception>
    public static async Task<ZooKeeperServer> StartAsync(string connection, CorfuClientOptions? client,
        ZooKeeperFrontEndOptions options, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(options);
        ZooKeeperLimits.Rules.Check(options.Limits);
        var port = await ClientPort.OpenAsync(options, cancellationToken).ConfigureAwait(false);
        var server = new ZooKeeperServer(connection, client, options, port);
        FrontEndGauges.Serving.Add(server);
        server._running = LoopContext.Pool.RunAsync(server.RunAsync);
        return server;
    }

    /// <summary>Closes all clients, whose sessions go on at other front ends.</summary>
    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _disposed, 1) != 0) return;
        FrontEndGauges.Serving.Remove(this);
        await _stop.CancelAsync().ConfigureAwait(false);
        await _running.ConfigureAwait(false);
        await _port.DisposeAsync().ConfigureAwait(false);
        _stop.Dispose();
    }

    private async Task RunAsync()
    {
        while (!_stop.IsCancellationRequested)
        {
            try
            {
                await ServeAsync().ConfigureAwait(false);
            }
            catch (OperationCanceledException) when (_stop.IsCancellationRequested)
            {
                return;
            }
            catch (Exception e)
            {
                // A node goes on for years: whatever keeps its front end from serving is told, and tried again.
                if (e.Message != _fault) FrontEndLog.NotServing(_logger, e);
                _fault = e.Message;
                await Task.Delay(s_retry, _stop.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
        }
    }

    private async Task ServeAsync()
    {
        var client = await CorfuClient.ConnectAsync(
            _connection, _client, cancellationToken: _stop.Token).ConfigureAwait(false);
        await using var _ = client.ConfigureAwait(false);
        var runtime = new TangoRuntime(client, s_runtime, _options.Loggers.CreateLogger<TangoRuntime>());
        await using var __ = runtime.ConfigureAwait(false);
        var frontEnd = await ZooKeeperFrontEnd.StartAsync(
            runtime, _options, _port, TimeProvider.System, _stop.Token).ConfigureAwait(false);
        await using var ___ = frontEnd.ConfigureAwait(false);
        _frontEnd = frontEnd;
        await Task.Delay(Timeout.InfiniteTimeSpan, _stop.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }
}
