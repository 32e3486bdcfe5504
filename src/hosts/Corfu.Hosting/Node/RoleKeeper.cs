using Corfu.Agent;
using Corfu.Client;
using Corfu.Client.Layout;
using Corfu.Server;

namespace Corfu.Hosting;

/// <summary>Holds a node's roles, and compares them with the newest decided projection as long as the node runs. A unit
/// or an acceptor that a decided projection removed gets a new identity and folder and waits as a spare (R2, R12); its
/// old data is kept until it is redundant. A role that the projection names at another address is moved
/// there.</summary>
internal sealed class RoleKeeper : IAsyncDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private readonly NodeOptions _node;
    private readonly RoleRegistry _registry;
    private readonly NodeAudit? _audit;
    private readonly ClusterAgent _agent;
    private readonly TimeProvider _time;
    private readonly RoleSurroundings _surroundings;
    private readonly ILogger _logger;
    private readonly TcpTransport _connections;
    private readonly RelocatingTransport _transport;
    private readonly LayoutClient _layout;
    private readonly RemovedData _removed;
    private readonly CancellationTokenSource _stop = new();
    private Task _running = Task.CompletedTask;
    private string _trouble = "";

    // The newest decided projection of an earlier run, which acceptors may remember no more.
    private readonly Projection? _before;
    private Epoch _remembered;

    // Replaced whole, by the loop alone.
    private ImmutableArray<NodeRoleHost> _roles;

    public RoleKeeper(NodeOptions node, ClusterTls? tls, RoleRegistry registry, ClusterAgent agent,
        ImmutableArray<NodeRoleHost> roles, NodeAudit? audit, RoleSurroundings surroundings, ILogger logger)
    {
        var time = surroundings.Time;
        _surroundings = surroundings;
        _node = node;
        _registry = registry;
        _audit = audit;
        _agent = agent;
        _roles = roles;
        _time = time;
        _logger = logger;
        _connections = new TcpTransport(
            new TcpTransportOptions { Cluster = new ClusterId(node.Cluster), Tls = tls }, time);
        _transport = new RelocatingTransport(_connections, agent.Locate);
        _layout = new LayoutClient(_transport, SystemEntropy.Instance, time);
        _removed = new RemovedData(_layout, logger);
        _before = AgentMemory.LoadProjection(node.AgentFile);
    }

    public ImmutableArray<NodeRoleHost> Roles => _roles;

    /// <summary>Why the loop has ended before the node did; null: it has not.</summary>
    public string? Fault => _running.Exception is { InnerException: { } e }
        ? $"The roles are not looked after any more: {e.Message}"
        : null;

    public void Start() => _running = LoopContext.Pool.RunAsync(() => RunAsync(_stop.Token));

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync();
        await _running.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        foreach (var role in _roles) await role.DisposeAsync();
        _connections.Dispose();
        _stop.Dispose();
    }

    private async Task RunAsync(CancellationToken cancellationToken)
    {
        await Task.Yield();
        while (!cancellationToken.IsCancellationRequested)
        {
            try
            {
                if (_agent.Projection is { } newest) await LookAsync(newest, cancellationToken);
                _trouble = "";
            }
            catch (Exception e) when (!cancellationToken.IsCancellationRequested)
            {
                if (e.Message != _trouble) HostingLog.KeeperFailed(_logger, _node.Name, _trouble = e.Message);
            }

            await Task.Delay(Interval, _time, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    private async Task LookAsync(Projection newest, CancellationToken cancellationToken)
    {
        if (_node.AgentFile is { } memory && newest.Epoch > _remembered)
        {
            AgentMemory.SaveProjection(memory, newest);
            _remembered = newest.Epoch;
        }

        await AnnounceAsync(newest, cancellationToken);
        foreach (var role in _roles)
        {
            if (!role.Kind.IsInProjections || role.Options.Folder is not { } folder) continue;
            var id = role.Handler.Id;
            if (Removal.Names(newest, id))
            {
                role.MarkNamed(newest.Epoch);
            }
            else
            {
                var named = role.Named > Epoch.None ? role.Named
                    : _before is not null && Removal.Names(_before, id) ? _before.Epoch
                    : await _removed.LastNamedAsync(id, newest, cancellationToken);
                if (Removal.IsFinal(id, named, newest)) await ReformatAsync(role, newest, cancellationToken);
            }

            await _removed.DropAsync(folder, role.Handler.Role, newest, cancellationToken);
        }
    }

    private async Task ReformatAsync(NodeRoleHost role, Projection newest, CancellationToken cancellationToken)
    {
        var id = role.Handler.Id;
        var folder = role.Options.Folder!;
        // R12: its successors hold the decided state durably before it forgets its own.
        if (role.Handler.Role == NodeRole.Acceptor) await _layout.HandOverAsync(newest, cancellationToken);
        var wait = role.Options.Id != Guid.Empty && _node.ConfigFile is null
            ? "removed; the host's options name this identity and must name another"
            : role.Handler.Role == NodeRole.Acceptor ? null
            : await _removed.WhyWaitAsync(folder, id, newest, cancellationToken);
        if (wait is null || role.Handler is not StoppedRole stopped || stopped.Reason != wait)
        {
            HostingLog.Removed(_logger, _node.Name, role.Kind.Name, id, newest.Epoch);
            var removed = role;
            role = Replace(role, NodeRoleHost.Removed(role, wait ?? $"removed before {newest.Epoch}"));
            await removed.DisposeAsync();
        }

        if (wait is not null) return;
        role.Options.Id = new RoleReformat(new ReformatFiles(_node, role.Options), folder,
            SystemEntropy.Instance.NewGuid).Run(id.Value, role.Options.Id);
        var fresh = await NodeRoleHost.OpenAsync(_node, role.Options, _surroundings);
        Replace(role, fresh);
        HostingLog.Reformatted(_logger, _node.Name, fresh.Kind.Name, fresh.Handler.Id, id);
    }

    private NodeRoleHost Replace(NodeRoleHost old, NodeRoleHost role)
    {
        _registry.Replace(old.Handler.Id, NodeAudit.Around(role.Handler, _audit));
        _roles = _roles.Replace(old, role);
        return role;
    }

    /// <summary>The node's configuration has another address than the projection: its data is here, so the projection
    /// follows. A sequencer that the projection names at the old address was this node's (R7), and its present one
    /// takes over.</summary>
    private async Task AnnounceAsync(Projection newest, CancellationToken cancellationToken)
    {
        var moved = newest.Units.Concat(newest.Acceptors)
            .Where(named => named.Endpoint != _node.Endpoint && _roles.Any(role => role.Handler.Id == named.Id))
            .ToImmutableArray();
        if (moved.IsEmpty) return;
        var old = moved[0].Endpoint;
        await using var client = new ClusterClient(newest, _transport, _time, SystemEntropy.Instance, null, _logger);
        var operations = new ClusterOperations(client, _transport, _time);
        var reason = new ReconfigurationReason(false, _node.Name, $"{old} moved to {_node.Endpoint}").ToString();
        await operations.MoveNodesAsync([.. moved.Select(role => role with { Endpoint = _node.Endpoint })], reason,
            cancellationToken);
        if (newest.Sequencer.Endpoint == old
            && _roles.FirstOrDefault(role => role.Handler.Role == NodeRole.Sequencer) is { } sequencer)
            await operations.ReplaceSequencerAsync(newest.Sequencer.Id,
                [new NodeAddress(sequencer.Handler.Id, _node.Endpoint)], reason, cancellationToken);
    }
}
