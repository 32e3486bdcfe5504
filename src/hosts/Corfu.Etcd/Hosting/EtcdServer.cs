using System.Net;
using Corfu.Client;
using Corfu.Server;

namespace Corfu.Etcd.Hosting;

/// <summary>
/// A front end of a cluster that may not answer yet, in a node of that cluster for instance. The port is open from the
/// start; until the store is played, calls wait, and end with UNAVAILABLE after some seconds.
/// </summary>
public sealed class EtcdServer : IAsyncDisposable
{
    private static readonly TimeSpan s_retry = TimeSpan.FromMilliseconds(500);

    private readonly string _connection;
    private readonly CorfuClientOptions? _client;
    private readonly EtcdFrontEndOptions _options;
    private readonly EtcdPort _port;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _stop = new();
    private Task _running = Task.CompletedTask;
    private volatile string? _fault = "it connects to the log";
    private int _disposed;

    private EtcdServer(string connection, CorfuClientOptions? client, EtcdFrontEndOptions options, EtcdPort port)
    {
        (_connection, _client, _options, _port) = (connection, client, options, port);
        _logger = options.Loggers.CreateLogger<EtcdServer>();
    }

    /// <summary>The address at which the server listens.</summary>
    public IPEndPoint EndPoint => _port.EndPoint;

    /// <summary>Why clients are not served now, for operators; null: they are.</summary>
    public string? Fault => _fault;

    /// <summary>Opens the port, and begins to connect.</summary>
    /// <param name="connection">The cluster, as <see cref="ConnectionString"/>.</param>
    /// <param name="client">Null: defaults.</param>
    /// <exception cref="ArgumentException">A limit is not allowed.</exception>
    /// <exception cref="ListenException">The port is occupied.</exception>
    public static async Task<EtcdServer> StartAsync(string connection, CorfuClientOptions? client,
        EtcdFrontEndOptions options, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(options);
        EtcdLimits.Rules.Check(options.Limits);
        var port = await EtcdPort.OpenAsync(options, cancellationToken).ConfigureAwait(false);
        var server = new EtcdServer(connection, client, options, port);
        server._running = LoopContext.Pool.RunAsync(server.RunAsync);
        return server;
    }

    /// <summary>Ends the calls and watches of clients, who go on at other front ends.</summary>
    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _disposed, 1) != 0) return;
        // The port first, as with a front end that has its own.
        await _port.DisposeAsync().ConfigureAwait(false);
        await _stop.CancelAsync().ConfigureAwait(false);
        await _running.ConfigureAwait(false);
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
                if (e.Message != _fault) EtcdLog.NotServing(_logger, e);
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
        var runtime = new TangoRuntime(
            client, EtcdFrontEnd.RuntimeOptions, _options.Loggers.CreateLogger<TangoRuntime>());
        await using var __ = runtime.ConfigureAwait(false);
        var frontEnd = await EtcdFrontEnd.StartAsync(ServedLog.Of(client), runtime, _options, _port, _stop.Token)
            .ConfigureAwait(false);
        await using var ___ = frontEnd.ConfigureAwait(false);
        EtcdLog.Serving(_logger, EndPoint.ToString());
        _fault = null;
        await Task.Delay(Timeout.InfiniteTimeSpan, _stop.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }
}

/// <summary>Events of front ends.</summary>
internal static partial class EtcdLog
{
    [LoggerMessage(1, LogLevel.Information, "Serving etcd v3 at {Address}")]
    public static partial void Serving(ILogger logger, string address);

    [LoggerMessage(2, LogLevel.Warning, "The front end for clients of etcd does not serve; it tries again")]
    public static partial void NotServing(ILogger logger, Exception exception);
}
