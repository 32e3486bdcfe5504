using System.Net;
using Corfu.Agent;
using Corfu.Server;
using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace Corfu.Hosting;

/// <summary>A running node: its roles, and the one listener before them. Disposing it stops serving and closes the
/// folders.</summary>
public sealed class CorfuNode : IAsyncDisposable
{
    private readonly RoleRegistry _registry;
    private readonly RoleKeeper _keeper;
    private readonly CorfuListener _server;
    private readonly NodeAgent _agent;
    private ClusterTls? _ownedTls;
    private readonly ProcessReporter _process;
    private readonly NodeAudit? _audit;
    private NodeOptions _options;
    private int _disposed;

    private CorfuNode(NodeOptions options, RoleRegistry registry, RoleKeeper keeper, CorfuListener server,
        NodeAgent agent, ProcessReporter process, NodeAudit? audit)
    {
        _options = options;
        _process = process;
        _agent = agent;
        _audit = audit;
        Name = options.Name;
        Endpoint = options.Endpoint;
        _registry = registry;
        _keeper = keeper;
        _server = server;
    }

    /// <summary>Version of this build.</summary>
    public static string Build => ProcessReporter.Build;

    public string Name { get; }

    public NodeEndpoint Endpoint { get; }

    /// <summary>The node's certificate and its rules for peers; null: connections are plain.</summary>
    public ClusterTls? Tls { get; private init; }

    /// <summary>The roles served, with their identities.</summary>
    public NodeDescription Description => _registry.Describe();

    /// <summary>Faults that keep roles from serving until the process is restarted, a failed disk for instance; empty
    /// while all is well.</summary>
    public ImmutableArray<string> Faults =>
        [.. _keeper.Roles.Select(role => role.Fault).Append(_agent.Fault).Append(_keeper.Fault).OfType<string>()];

    /// <summary>Roles that serve nothing, however often the process is restarted: damaged ones, and removed ones that
    /// wait for room.</summary>
    public ImmutableArray<string> Stopped => [.. _keeper.Roles.Select(role => role.Stopped).OfType<string>()];

    /// <summary>Parts that serve and need attention: a unit whose disk is full, or nearly; a listener that accepts
    /// connections without TLS; a renewed certificate that does not count; an audit file that cannot be
    /// written.</summary>
    public ImmutableArray<string> Warnings =>
    [
        .. _keeper.Roles.Select(role => role.Warning).Append(NodeTls.WarningOf(Tls)).Append(_audit?.Fault)
            .OfType<string>(),
    ];

    /// <summary>The last words of the node's agent about the cluster; null before its first ones.</summary>
    public AgentReport? Agent => _agent.Agent.Newest;

    /// <summary>The newest projection that the node's agent knows.</summary>
    public Projection? Projection => _agent.Agent.Projection;

    /// <summary>The process's own report, as tools get it.</summary>
    public Task<ProcessReport> DescribeProcessAsync() => _process.ReadAsync();

    /// <summary>A peer looks at the console of this node: a line of the audit file, for each peer once in a
    /// while.</summary>
    public void AuditConsole(Principal viewer) => _audit?.Viewed(AuditWho.Of(viewer));

    internal ImmutableArray<CertificateReport> Certificates => NodeTls.ReportsOf(Tls);

    internal IReadOnlyDictionary<NodeEndpoint, TimeSpan> ClockOffsets => _agent.Clocks.Offsets;

    /// <summary>Opens the roles (a unit reads its log back first) and listens. On failure everything opened is closed
    /// again.</summary>
    /// <exception cref="NodeStartException">A folder in use, damaged or not writable; an occupied port.</exception>
    public static async Task<CorfuNode> StartAsync(
        NodeOptions options, ILoggerFactory loggers, TimeProvider time, CancellationToken cancellationToken = default)
    {
        var logger = loggers.CreateLogger<CorfuNode>();
        var registry = new RoleRegistry(new ClusterId(options.Cluster), options.KnownRoles.Requests,
            options.Limits.Server, time, loggers.CreateLogger<RoleRegistry>());
        var roles = ImmutableArray.CreateBuilder<NodeRoleHost>();
        NodeAgent? agent = null;
        var tls = options.OpenTls ?? NodeTls.Open(options, time, logger);
        var audit = NodeAudit.Open(options, registry, loggers, time);
        var surroundings = new RoleSurroundings(tls, new ProcessHandlers(registry, audit), loggers, time);
        try
        {
            foreach (var role in options.Roles)
            {
                cancellationToken.ThrowIfCancellationRequested();
                var host = await NodeRoleHost.OpenAsync(options, role, surroundings);
                roles.Add(host);
                registry.Add(NodeAudit.Around(host.Handler, audit));
            }

            var reporter = new ProcessReporter(options, tls, registry, time);
            agent = new NodeAgent(options, tls, reporter.ReadAsync, audit is null ? null : audit.Adopted, loggers,
                time);
            registry.Add(NodeAudit.Around(agent.Agent, audit));
            registry.Gate = agent.Agent.Gate;
            tls?.Deny(agent.Agent.Denied);
            reporter.Denied = agent.Agent.Denied;
            var server = await ListenAsync(options.Endpoint, registry, tls, loggers, cancellationToken);
            var keeper = new RoleKeeper(options, tls, registry, agent.Agent, roles.ToImmutable(), audit, surroundings,
                logger);
            var node = new CorfuNode(options, registry, keeper, server, agent, reporter, audit)
            { Tls = tls, _ownedTls = options.OpenTls is null ? tls : null };
            if (tls is not null && audit is not null) tls.Source.Changed += () => audit.Renewed(tls);
            reporter.Warnings = () => [.. node.Faults, .. node.Stopped, .. node.Warnings];
            agent.Start(registry.KnownAddresses);
            keeper.Start();
            foreach (var role in roles)
            {
                if (role.Stopped is { } stopped) HostingLog.RoleFailed(logger, stopped);
                else HostingLog.Serving(logger, options.Name, role.Kind.Name, role.Handler.Id, options.Endpoint);
                _ = role.Failure.ContinueWith(_ => node.Report(role, logger), cancellationToken,
                    TaskContinuationOptions.None, TaskScheduler.Default);
            }

            audit?.Note("Start", $"{ProcessReporter.Build} at {options.Endpoint}");
            HostingTelemetry.NodesRunning.Add(1);
            NodeGauges.Nodes.Add(node);
            return node;
        }
        catch
        {
            registry.Dispose();
            if (agent is not null) await agent.DisposeAsync();
            foreach (var role in roles) await role.DisposeAsync();
            if (options.OpenTls is null) tls?.Dispose();
            if (audit is not null) await audit.DisposeAsync();
            throw;
        }
    }

    /// <summary>Takes what may change while the node runs: further peers, the listener's limits, a renewed
    /// certificate.</summary>
    /// <returns>The changes, for people.</returns>
    internal ImmutableArray<string> Reload(NodeOptions now)
    {
        var changes = ImmutableArray.CreateBuilder<string>();
        var peers = now.Peers.Except(_options.Peers).ToList();
        if (peers.Count > 0)
        {
            _agent.Agent.AddPeers([.. peers.Select(
                peer => NodeEndpoint.TryParse(peer, out var endpoint) ? endpoint : default)]);
            changes.Add($"peers {string.Join(", ", peers)}");
        }

        if (now.Limits.Server != _options.Limits.Server)
        {
            _registry.UseOptions(now.Limits.Server);
            changes.Add("limits.server");
        }

        if (Tls?.Reload() == true) changes.Add($"certificate, until {Tls.Source.Current.NotAfter:yyyy-MM-dd}");
        _options = now;
        _audit?.Note("Reload", changes.Count == 0 ? "nothing" : string.Join("; ", changes));
        return changes.DrainToImmutable();
    }

    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _disposed, 1) != 0) return;
        NodeGauges.Nodes.Remove(this);
        // While it still listens: the others are told that it goes, so that none takes it for dead.
        await _agent.DisposeAsync();
        // Then the connections, so that stopping the server does not wait for idle ones; then what the requests were
        // about.
        _registry.Dispose();
        await _server.DisposeAsync();
        await _keeper.DisposeAsync();
        _ownedTls?.Dispose();
        if (_audit is not null)
        {
            _audit.Note("Stop", "in good order");
            await _audit.DisposeAsync();
        }

        HostingTelemetry.NodesRunning.Add(-1);
    }

    // A role that is closed says so as well.
    private void Report(NodeRoleHost role, ILogger logger)
    {
        if (Volatile.Read(ref _disposed) == 0) HostingLog.RoleFailed(logger, role.Fault!);
    }

    private static async Task<CorfuListener> ListenAsync(NodeEndpoint endpoint, RoleRegistry registry,
        ClusterTls? tls, ILoggerFactory loggers, CancellationToken cancellationToken)
    {
        var address = NodeOptionsValidator.AddressOf(endpoint.Host)!;
        try
        {
            return await CorfuListener.StartAsync(new IPEndPoint(address, endpoint.Port), listen =>
            {
                if (tls is not null) listen.UseCorfuTls(tls, registry);
                listen.UseCorfu(registry);
            }, loggers, inline: true, cancellationToken);
        }
        catch (ListenException e)
        {
            throw new NodeStartException(e.Message, e);
        }
    }
}
