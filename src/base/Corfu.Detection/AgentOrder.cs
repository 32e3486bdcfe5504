namespace Corfu.Detection;

/// <summary>The order in which live agents act, which all of them see alike: that of their endpoints, or for a process
/// that of its watchers (the next live agents behind it).</summary>
public sealed class AgentOrder
{
    private readonly NodeEndpoint _self;
    private readonly Targets _targets;
    private readonly Verdicts _verdicts;

    internal AgentOrder(NodeEndpoint self, Targets targets, Verdicts verdicts)
    {
        _self = self;
        _targets = targets;
        _verdicts = verdicts;
    }

    /// <summary>Live agents before this one.</summary>
    public int Rank => Before.Count();

    /// <summary>The live agent just before this one; null: this is the first one.</summary>
    public NodeAddress? Predecessor =>
        Before.Select(agent => (NodeAddress?)agent.Address).MaxBy(agent => agent!.Value.Endpoint);

    /// <summary>Live agents that act before this one about a process: those between the two.</summary>
    public int RankFor(NodeEndpoint process, Predicate<NodeEndpoint> isGoing) =>
        _targets.Processes.AgentsBetween(process, peer => !isGoing(peer.Endpoint) && IsAgentAlive(peer));

    /// <summary>The agents of other processes, those that watch a process first.</summary>
    internal IEnumerable<MonitoredNode> WatchersOf(NodeEndpoint process) =>
        _targets.Processes.Behind(process).Where(peer => peer.Endpoint != _self)
            .Select(peer => _targets.Find(peer.Agent)).OfType<MonitoredNode>();

    internal bool IsAgentAlive(Peer process) => _targets.Find(process.Agent) is { } agent && _verdicts.IsAlive(agent);

    private IEnumerable<MonitoredNode> Before =>
        _targets.Agents.Where(agent => agent.Address.Endpoint.CompareTo(_self) < 0 && _verdicts.IsAlive(agent));
}
