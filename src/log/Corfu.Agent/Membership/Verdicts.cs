namespace Corfu.Agent;

/// <summary>Judges nodes from the samples of their probes, and reports when a node's health changes.</summary>
internal sealed class Verdicts(DetectorOptions options, Targets targets, AgentClock clock, ILogger logger)
{
    private readonly DetectorCore _detector = new(options);

    public void Tick() => _detector.Tick(clock.Now);

    public bool Watches(MonitoredNode node) => _detector.Watches(node.Address.Id);

    public void Watch(MonitoredNode node) => _detector.Watch(
        node.Address, node.Role, clock.Now, node.HasAnswered, node.Kind.ReturnsAfterLeaving);

    public void Forget(NodeId id) => _detector.Forget(id);

    /// <summary>Samples of nodes that this agent does not watch are passed over.</summary>
    public void Record(NodeId id, ProbeSample sample) => _detector.Record(id, sample, clock.Now);

    /// <summary>The agent of a process has said that it stops.</summary>
    public void RecordLeaving(NodeEndpoint process)
    {
        foreach (var node in targets.NodesAt(process)) _detector.RecordLeaving(node.Address.Id, clock.Now);
    }

    public NodeVerdict Of(MonitoredNode node)
    {
        if (!Watches(node))
            return new NodeVerdict(node.Answers ? NodeHealth.Alive : NodeHealth.Unknown, TimeSpan.Zero, 0,
                Note: "watched by other agents");
        var verdict = _detector.Judge(node.Address.Id, clock.Now);
        if (verdict.Health is NodeHealth.Failed or NodeHealth.Full && node.Says.Length > 0)
            return verdict with { Note = $"says {node.Says}, for {NodeVerdict.Seconds(verdict.Since)}" };
        return verdict.Health == NodeHealth.Silent && node.IsReachedByOthers
            ? verdict with { Health = NodeHealth.Partitioned, Note = $"{verdict.Why}, but another agent reaches it" }
            : verdict;
    }

    public bool IsAlive(MonitoredNode node) => Of(node).Health == NodeHealth.Alive;

    /// <summary>The verdict on which the policy acts; unknown while it is to ignore this agent's own.</summary>
    public NodeVerdict ForPolicy(NodeId id) =>
        targets.Find(id) is { } node && clock.Now >= node.PausedUntil ? Of(node) : default;

    /// <summary>Spares or standbys that answer, in the order of their endpoints: every agent takes the same.</summary>
    public ImmutableArray<NodeAddress> Waiting(NodeRole role) =>
    [
        .. from node in targets.Nodes
           where node.Role == role && targets.DutyOf(node) is NodeDuty.Spare or NodeDuty.Standby && IsAlive(node)
               && clock.Now >= node.PausedUntil
           orderby node.Address.Endpoint, node.Address.Id
           select node.Address,
    ];

    public IEnumerable<NodeId> Answering(NodeRole role) =>
        from node in targets.Nodes
        where node.Role == role && Of(node).Health is NodeHealth.Alive or NodeHealth.Slow
        select node.Address.Id;

    /// <summary>Another agent reaches a node that is silent here.</summary>
    public void RecordPartition(MonitoredNode node)
    {
        node.IsReachedByOthers = true;
        Report(node);
    }

    /// <summary>Logs the verdict if the node's health is another than at the last report.</summary>
    /// <returns>Whether the node was found gone just now.</returns>
    public bool Report(MonitoredNode node)
    {
        var verdict = Of(node);
        var before = node.Reported;
        if (verdict.Health == before || !Watches(node)) return false;
        node.Reported = verdict.Health;
        var name = $"{node.Role} {node.Address.Endpoint}";
        if (verdict.Health == NodeHealth.Alive && before != NodeHealth.Unknown)
            AgentLog.Recovered(logger, name, before.ToString());
        if (verdict.Health is NodeHealth.Alive or NodeHealth.Unknown) return false;
        AgentTelemetry.Suspicions.Add(1, new KeyValuePair<string, object?>("health", verdict.Health.ToString()));
        AgentLog.Verdict(logger, name, verdict.Health.ToString(), verdict.Why);
        return verdict.IsGone;
    }
}
