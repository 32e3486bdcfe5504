using Corfu.Agent;
using Corfu.Server;

namespace Corfu.Hosting;

/// <summary>The cluster agent of a node, with the connections that it works over.</summary>
internal sealed class NodeAgent : IAsyncDisposable
{
    private readonly TcpTransport _probes;
    private readonly TcpTransport _transport;
    private readonly CancellationTokenSource _stop = new();

    // Belongs to the agent's loop, which tells all changes.
    private AgentMemory _memory;
    private readonly TimeProvider _time;
    private Task? _running;
    private PeerAddresses? _peers;
    private Task? _clocks;

    public NodeAgent(NodeOptions node, ClusterTls? tls, Func<Task<ProcessReport>> process,
        Action<Projection>? adopted, ILoggerFactory loggers, TimeProvider time)
    {
        var memory = AgentMemory.Load(node.AgentFile);
        _time = time;
        var options = new AgentOptions
        {
            Self = node.Endpoint,
            Peers = [.. node.Peers.Select(peer => NodeEndpoint.TryParse(peer, out var endpoint) ? endpoint : default)
                .Where(endpoint => endpoint.Port != 0)],
            Automatic = node.Automatic,
            Detector = node.Limits.Agent.Detector,
            Policy = node.Limits.Agent.Policy,
            Rebuild = node.Limits.Agent.Rebuild,
            Migration = node.Limits.Agent.Migration,
            Scrub = node.Limits.Agent.Scrub,
            Automation = memory?.Automation,
            Denied = memory?.DeniedCertificates ?? [],
            Remembered = AgentMemory.LoadProjection(node.AgentFile),
            Process = process,
            ProjectionChanged = adopted,
            AutomationChanged = automation => Keep(node, before => before.With(automation)),
            DeniedChanged = denied => Keep(node, before => before.With(denied)),
        };
        _memory = memory ?? new AgentMemory(0, node.Automatic);
        var cluster = new ClusterId(node.Cluster);
        // A connection whose probes are not answered is given up before silence counts; back-off never hides a node for
        // longer than an interval.
        _probes = new TcpTransport(
            new TcpTransportOptions
            {
                Cluster = cluster,
                Tls = tls,

                // A TLS handshake takes long in a process that has just started, and both sides would pay in vain.
                ConnectTimeout = tls is null ? options.ProbeTimeout : options.ProbeTimeout * 3,
                RequestTimeout = options.ProbeTimeout * 3,
                MaxBackOff = options.Step / 2,
                ReceiveBuffer = 16 << 10,
            },
            time);
        _transport =
            new TcpTransport(
                new TcpTransportOptions { Cluster = cluster, Tls = tls, MaxBackOff = options.Detector.Interval }, time);
        Agent = new ClusterAgent(options, _probes, _transport, time, SystemEntropy.Instance,
            loggers.CreateLogger<ClusterAgent>());
        Clocks = new ClockWatch(_transport, () => Agent.Newest, time);
    }

    public ClusterAgent Agent { get; }

    public ClockWatch Clocks { get; }

    /// <summary>Why nothing watches over the cluster from here until the process is restarted, or null.</summary>
    public string? Fault =>
        _running is { IsCompleted: true } && !_stop.IsCancellationRequested
            ? $"The agent has ended: {_running.Exception?.InnerException?.Message}"
            : null;

    /// <param name="addresses">Takes those of the cluster's processes.</param>
    public void Start(KnownAddresses addresses)
    {
        _running = LoopContext.Pool.RunAsync(() => Agent.RunAsync(_stop.Token));
        _peers = new PeerAddresses(Agent, addresses, _time);
        _clocks = LoopContext.Pool.RunAsync(() => Clocks.RunAsync(_stop.Token));
    }

    /// <returns>False: what is remembered now would not survive a restart.</returns>
    private bool Keep(NodeOptions node, Func<AgentMemory, AgentMemory> change)
    {
        _memory = change(_memory);
        return node.AgentFile is not { } file || _memory.TrySave(file);
    }

    /// <summary>Tells the others that the node goes, and acts no more.</summary>
    public async ValueTask DisposeAsync()
    {
        if (!_stop.IsCancellationRequested)
        {
            await Agent.LeaveAsync();
            await _stop.CancelAsync();
        }

        // How it ended has been a fault of the node until now.
        if (_running is not null) await Task.WhenAny(_running);
        _peers?.Dispose();
        if (_clocks is not null) await Task.WhenAny(_clocks);
        _probes.Dispose();
        _transport.Dispose();
    }
}
