namespace Corfu.Agent;

/// <summary>The order in which live agents act, which all of them see alike: that of their endpoints, or for a process
/// that of its watchers (<see cref="PeerTable"/>).</summary>
internal sealed class AgentOrder(NodeEndpoint self, Targets targets, Verdicts verdicts)
{
    /// <summary>Live agents before this one.</summary>
    public int Rank => Before.Count();

    /// <summary>The live agent just before this one; null: this is the first one.</summary>
    public NodeAddress? Predecessor =>
        Before.Select(agent => (NodeAddress?)agent.Address).MaxBy(agent => agent!.Value.Endpoint);

    /// <summary>Live agents that act before this one about a process: those between the two.</summary>
    public int RankFor(NodeEndpoint process, Predicate<NodeEndpoint> isGoing) =>
        targets.Processes.AgentsBetween(process, peer => !isGoing(peer.Endpoint) && IsAgentAlive(peer));

    /// <summary>The agents of other processes, those that watch a process first.</summary>
    public IEnumerable<MonitoredNode> WatchersOf(NodeEndpoint process) =>
        targets.Processes.Behind(process).Where(peer => peer.Endpoint != self).Select(peer => targets.Find(peer.Agent))
            .OfType<MonitoredNode>();

    public bool IsAgentAlive(Peer process) => targets.Find(process.Agent) is { } agent && verdicts.IsAlive(agent);

    private IEnumerable<MonitoredNode> Before =>
        targets.Agents.Where(agent => agent.Address.Endpoint.CompareTo(self) < 0 && verdicts.IsAlive(agent));
}
