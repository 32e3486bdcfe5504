using Corfu.Server;
using Corfu.ZooKeeper.Auth;
using Corfu.ZooKeeper.Connections;
using Corfu.ZooKeeper.Hosting;
using Corfu.ZooKeeper.Sessions;
using Microsoft.AspNetCore.Connections;

namespace Corfu.ZooKeeper.Serving;

/// <summary>A front end without its port: it plays the tree, beats, ends sessions that are silent, and serves the
/// connections that it is given.</summary>
internal sealed class PortlessFrontEnd : IAsyncDisposable
{
    private readonly FrontEndLease _lease;
    private readonly CancellationTokenSource _stop = new();
    private readonly FrontEndPartitions _partitions;
    private ITimer? _looking;
    private Task _beating = Task.CompletedTask;

    /// <param name="tree">The root partition, open in the runtime; both stay the caller's.</param>
    /// <param name="send">Sends a record about sessions, or front ends, that were silent. Null: at once.</param>
    public PortlessFrontEnd(TangoRuntime runtime, ZooKeeperTree tree, ZooKeeperFrontEndOptions options,
        FrontEndEnvironment environment, Action<FrontEndServices, TreeRecord>? send = null)
    {
        var logger = options.Loggers.CreateLogger<ZooKeeperFrontEnd>();
        var time = environment.Time;
        var dispatcher = new Dispatcher(logger, time, environment.Times.Lease,
            new ConnectionTable(options.Limits), options.ReadOnly);
        var identity = new FrontEndIdentity(environment.Fill);
        _partitions = new FrontEndPartitions(runtime, TreePartitions.Of(runtime, options.Service, tree, time),
            environment.Observe(dispatcher), identity, options.Host);
        dispatcher.IsWhole = () => _partitions.IsWhole;
        dispatcher.SharedPlayed += _partitions.OnPlayed;
        dispatcher.Mounted += () => environment.Loops.Start(PrepareAsync);
        var sync = new SyncWaiters(dispatcher, tree, _partitions, environment.Loops, _stop.Token);
        dispatcher.Advanced += sync.OnAdvanced;
        Services = new FrontEndServices(dispatcher, _partitions, sync, new Credentials(options.SuperDigest),
            identity, new RequestCounters(), logger, environment)
        {
            Stopped = _stop.Token,
            Settings = SettingsOf(options, environment.Times),
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
        var tracker = new SessionTracker(Services, record => (send ?? QuietPosts.Send)(Services, record));
        _lease = new FrontEndLease(Services, tracker, options.Listen.ToString());
    }

    public FrontEndServices Services { get; }

    /// <summary>Completes when clients may be served.</summary>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        await _partitions.StartAsync(cancellationToken);
        _beating = Services.Loops.RunAsync(() => _lease.RunAsync(_stop.Token));
        _looking = Services.Time.CreateTimer(_ => _lease.Look(), null, Services.Times.Look, Services.Times.Look);
        await _lease.First.WaitAsync(cancellationToken);
    }

    /// <summary>Serves a connection to its end.</summary>
    public Task ServeAsync(ConnectionContext context) =>
        new ZooConnection(Services, context.RemoteEndPoint).ServeAsync(context);

    /// <summary>Ends the beats and closes all clients, whose sessions go on at other front ends.</summary>
    public async Task StopAsync()
    {
        await _stop.CancelAsync();
        await _beating;
        if (_looking is not null) await _looking.DisposeAsync();
        lock (Services.Dispatcher.Gate) Services.Dispatcher.Leave();
    }

    /// <summary>Leaves the log's table, behind <see cref="StopAsync"/>.</summary>
    public async ValueTask DisposeAsync()
    {
        if (_lease.First.IsCompletedSuccessfully)
        {
            // A log that is away does not hold the process.
            using var limit = new CancellationTokenSource(Services.Times.Lease, Services.Time);
            await _lease.LeaveAsync(limit.Token);
        }

        _partitions.Dispose();
        Services.Tls?.Dispose();
        _stop.Dispose();
    }

    private static ImmutableArray<KeyValuePair<string, string>> SettingsOf(
        ZooKeeperFrontEndOptions options, FrontEndTimes times) =>
    [
        new("clientPort", $"{options.Listen.Port}"),
        new("maxClientCnxns", $"{options.Limits.MaxConnectionsPerAddress}"),
        new("minSessionTimeout", $"{(int)times.ShortestTimeout.TotalMilliseconds}"),
        new("maxSessionTimeout", $"{(int)times.LongestTimeout.TotalMilliseconds}"),
        new("service", options.Service),
        new("reads", options.Reads == ZooKeeperReads.Linearizable ? "linearizable" : "session"),
        new("readonlymode.enabled", options.ReadOnly ? "true" : "false"),
    ];

    // A failure is met again by the next beat.
    private async Task PrepareAsync()
    {
        try
        {
            await _partitions.PrepareAsync(_stop.Token);
        }
        catch (Exception e) when (LogFaults.IsFault(e) || e is OperationCanceledException)
        {
            FrontEndLog.NotTaken(Services.Logger, "mount", e);
        }
    }
}
