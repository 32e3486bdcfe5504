namespace Corfu.Detection;

/// <summary>The nodes that this agent monitors: those that the newest epoch names, and the roles of all known
/// processes, so that spares, standbys and agents are among them.</summary>
public sealed class Targets
{
    private readonly MonitorOptions _options;
    private readonly NodeId _self;
    private readonly IMembership _membership;
    private readonly WatchedRoles _roles;
    private readonly NodeLocations _locations;
    private readonly AgentClock _clock;

    // Sorted, so that nothing depends on how keys hash.
    private readonly SortedDictionary<NodeId, MonitoredNode> _nodes = [];
    private Epoch _chosen;
    private bool _isStale;

    internal Targets(MonitorOptions options, NodeId self, IMembership membership, WatchedRoles roles,
        NodeLocations locations, AgentClock clock)
    {
        _options = options;
        _self = self;
        _membership = membership;
        _roles = roles;
        _locations = locations;
        _clock = clock;
        Processes = new PeerTable(options.Self, options.ForgetPeerAfter);
    }

    internal PeerTable Processes { get; }

    public IEnumerable<MonitoredNode> Nodes => _nodes.Values;

    public IEnumerable<MonitoredNode> Agents => _nodes.Values.Where(node => node.Role == NodeRole.Agent);

    internal MonitoredNode? Find(NodeId id) => _nodes.GetValueOrDefault(id);

    internal IEnumerable<MonitoredNode> NodesAt(NodeEndpoint process) =>
        _nodes.Values.Where(node => node.Address.Endpoint == process);

    public NodeDuty DutyOf(MonitoredNode node)
    {
        if (_membership.Epoch == Epoch.None) return NodeDuty.None;
        if (node.Role == NodeRole.Agent || _membership.Named.Any(named => named.Address.Id == node.Address.Id))
            return NodeDuty.Serving;
        if (!node.Kind.HoldsData) return NodeDuty.Standby;
        return node.IsFresh ? NodeDuty.Spare : node.Epoch > Epoch.None ? NodeDuty.Removed : NodeDuty.None;
    }

    /// <summary>A process to watch. Ignored when there are too many.</summary>
    public void AddProcess(NodeEndpoint endpoint) => Processes.Add(endpoint, _clock.Now);

    /// <summary>Processes to tell other agents of.</summary>
    public IEnumerable<NodeEndpoint> HeardProcesses() => Processes.Heard(_clock.Now);

    /// <summary>A ping has come from another agent.</summary>
    public void RecordPing(NodeAddress agent)
    {
        AddProcess(agent.Endpoint);
        if (Processes.Find(agent.Endpoint) is not { } process) return;
        process.Hear(_clock.Now);
        // Another identity: the process was started again.
        if (process.Agent != agent.Id) process.IdentifyBy(_clock.Now);
    }

    /// <summary>A process was asked which roles it serves.</summary>
    /// <param name="description">Null: it did not answer, and its known roles are probed one by one.</param>
    internal void RecordIdentity(Peer process, NodeDescription? description)
    {
        process.IsIdentifying = false;
        if (process.IsSilent != description is null) _isStale = true;
        process.IsSilent = description is null;
        if (description is not null)
        {
            process.Hear(_clock.Now);
            if (!process.Roles.AsSpan().SequenceEqual(description.Roles.AsSpan())) _isStale = true;
            process.Roles = description.Roles;
        }

        // Asked again only when its agent does not answer any more.
        process.NextIdentify = description is null || process.Agent.IsNone
            ? _clock.Now + _options.SlowInterval
            : TimeSpan.MaxValue;
    }

    /// <summary>Chooses the nodes anew if the epoch or a process has changed.</summary>
    /// <returns>Identities that are not monitored any more, or at another address.</returns>
    internal ImmutableArray<NodeId> Choose()
    {
        if (_membership.Epoch > _chosen)
        {
            _chosen = _membership.Epoch;
            _isStale = true;
            foreach (var node in _membership.Named) AddProcess(node.Address.Endpoint);
        }

        if (_chosen > Epoch.None && Processes.Forget(IsNamed, _clock.Now)) _isStale = true;
        if (!_isStale) return [];
        _isStale = false;
        return Replace(Wanted());
    }

    private bool IsNamed(NodeEndpoint process) =>
        _membership.Named.Any(node => node.Address.Endpoint == process);

    private SortedDictionary<NodeId, NamedNode> Wanted()
    {
        SortedDictionary<NodeId, NamedNode> wanted = [];
        foreach (var node in _membership.Named) wanted[node.Address.Id] = node;
        Dictionary<NodeId, NodeEndpoint> located = [];
        // A node that has moved is not dead at its old address.
        foreach (var process in Processes.All.OrderBy(process => process.LastHeard))
        {
            foreach (var role in process.Roles.Where(role => role.Id != _self))
            {
                if (wanted.TryGetValue(role.Id, out var named) && !HasLeft(role.Id, named.Address.Endpoint, process))
                    continue;
                wanted[role.Id] = new NamedNode(new NodeAddress(role.Id, process.Endpoint), role.Role);
                located[role.Id] = process.Endpoint;
            }
        }

        _locations.Replace(located);
        return wanted;
    }

    // Two processes with one identity: one has a copied folder, and would forget what the other promises (R2). The
    // process that the epoch names counts as long as it answers.
    private bool HasLeft(NodeId id, NodeEndpoint endpoint, Peer other) => endpoint == other.Endpoint
        || (!other.IsSilent && Processes.Find(endpoint) is { } there
            && (there.IsSilent || (!there.Roles.IsEmpty && there.Roles.All(role => role.Id != id))));

    private ImmutableArray<NodeId> Replace(SortedDictionary<NodeId, NamedNode> wanted)
    {
        List<NodeId> gone = [.. _nodes.Keys.Where(id => !wanted.ContainsKey(id))];
        foreach (var id in gone) _nodes.Remove(id);
        foreach (var (id, (address, name)) in wanted)
        {
            if (_nodes.TryGetValue(id, out var known) && known.Address == address) continue;
            if (_roles.Find(name) is not { } role) continue;
            _nodes[id] = new MonitoredNode(address, role);
            gone.Add(id);
        }

        return [.. gone];
    }
}
