namespace Corfu.Agent;

/// <summary>The processes that this agent knows, and the nodes that it monitors: those of the newest projection, and
/// the roles of all known processes, so that spares, standbys and agents are among them.</summary>
internal sealed class Targets(AgentOptions options, NodeId self, ClusterView view, NodeLocations locations,
    AgentClock clock)
{
    // Sorted, so that nothing depends on how keys hash.
    private readonly SortedDictionary<NodeId, MonitoredNode> _nodes = [];
    private Projection? _projection;
    private bool _isStale;

    public PeerTable Processes { get; } = new(options.Self, options.ForgetPeerAfter);

    public IEnumerable<MonitoredNode> Nodes => _nodes.Values;

    public IEnumerable<MonitoredNode> Agents => _nodes.Values.Where(node => node.Role == NodeRole.Agent);

    public MonitoredNode? Find(NodeId id) => _nodes.GetValueOrDefault(id);

    public IEnumerable<MonitoredNode> NodesAt(NodeEndpoint process) =>
        _nodes.Values.Where(node => node.Address.Endpoint == process);

    public NodeDuty DutyOf(MonitoredNode node)
    {
        if (view.Projection is not { } projection) return NodeDuty.None;
        var id = node.Address.Id;
        if (node.Role == NodeRole.Agent || projection.HasUnit(id) || projection.Sequencer.Id == id
            || projection.Acceptors.Any(acceptor => acceptor.Id == id)) return NodeDuty.Serving;
        if (node.Role != NodeRole.Unit) return NodeDuty.Standby;
        return node.IsFresh ? NodeDuty.Spare : node.Epoch > Epoch.None ? NodeDuty.Removed : NodeDuty.None;
    }

    public void AddProcess(NodeEndpoint endpoint) => Processes.Add(endpoint, clock.Now);

    /// <summary>A ping has come from another agent.</summary>
    public void RecordPing(NodeAddress agent)
    {
        AddProcess(agent.Endpoint);
        if (Processes.Find(agent.Endpoint) is not { } process) return;
        process.Hear(clock.Now);
        // Another identity: the process was started again.
        if (process.Agent != agent.Id) process.IdentifyBy(clock.Now);
    }

    /// <summary>A process was asked which roles it serves.</summary>
    /// <param name="description">Null: it did not answer, and its known roles are probed one by one.</param>
    public void RecordIdentity(Peer process, NodeDescription? description)
    {
        process.IsIdentifying = false;
        if (process.IsSilent != description is null) _isStale = true;
        process.IsSilent = description is null;
        if (description is not null)
        {
            process.Hear(clock.Now);
            if (!process.Roles.AsSpan().SequenceEqual(description.Roles.AsSpan())) _isStale = true;
            process.Roles = description.Roles;
        }

        // Asked again only when its agent does not answer any more.
        process.NextIdentify = description is null || process.Agent.IsNone
            ? clock.Now + options.SlowInterval
            : TimeSpan.MaxValue;
    }

    /// <summary>Chooses the nodes anew if the projection or a process has changed.</summary>
    /// <returns>Identities that are not monitored any more, or at another address.</returns>
    public ImmutableArray<NodeId> Choose()
    {
        if (view.Projection is { } projection)
        {
            if (projection.Epoch != _projection?.Epoch)
            {
                _projection = projection;
                _isStale = true;
                foreach (var node in NodesOf(projection)) AddProcess(node.Endpoint);
            }

            if (Processes.Forget(process => NodesOf(projection).Any(node => node.Endpoint == process), clock.Now))
                _isStale = true;
        }

        if (!_isStale) return [];
        _isStale = false;
        return Replace(Wanted());
    }

    private SortedDictionary<NodeId, (NodeAddress Address, NodeRole Role)> Wanted()
    {
        SortedDictionary<NodeId, (NodeAddress Address, NodeRole Role)> wanted = [];
        if (_projection is { } projection)
        {
            foreach (var unit in projection.Units) wanted[unit.Id] = (unit, NodeRole.Unit);
            foreach (var acceptor in projection.Acceptors) wanted[acceptor.Id] = (acceptor, NodeRole.Acceptor);
            wanted[projection.Sequencer.Id] = (projection.Sequencer, NodeRole.Sequencer);
        }

        Dictionary<NodeId, NodeEndpoint> located = [];
        // A node that has moved is not dead at its old address.
        foreach (var process in Processes.All.OrderBy(process => process.LastHeard))
        {
            foreach (var role in process.Roles.Where(role => role.Id != self))
            {
                if (wanted.TryGetValue(role.Id, out var named) && !HasLeft(role.Id, named.Address.Endpoint, process))
                    continue;
                wanted[role.Id] = (new NodeAddress(role.Id, process.Endpoint), role.Role);
                located[role.Id] = process.Endpoint;
            }
        }

        locations.Replace(located);
        return wanted;
    }

    // Two processes with one identity: one has a copied folder, and would forget what the other promises (R2). The
    // process that the projection names counts as long as it answers.
    private bool HasLeft(NodeId id, NodeEndpoint endpoint, Peer other) => endpoint == other.Endpoint
        || (!other.IsSilent && Processes.Find(endpoint) is { } there
            && (there.IsSilent || (!there.Roles.IsEmpty && there.Roles.All(role => role.Id != id))));

    private ImmutableArray<NodeId> Replace(SortedDictionary<NodeId, (NodeAddress Address, NodeRole Role)> wanted)
    {
        List<NodeId> gone = [.. _nodes.Keys.Where(id => !wanted.ContainsKey(id))];
        foreach (var id in gone) _nodes.Remove(id);
        foreach (var (id, (address, role)) in wanted)
        {
            if (_nodes.TryGetValue(id, out var known) && known.Address == address) continue;
            _nodes[id] = new MonitoredNode(address, role);
            gone.Add(id);
        }

        return [.. gone];
    }

    private static IEnumerable<NodeAddress> NodesOf(Projection projection) =>
        [.. projection.Units, .. projection.Acceptors, projection.Sequencer];
}
