namespace Corfu.Detection;

/// <summary>Judges nodes from the samples of their probes, and reports when a node's health changes.</summary>
public sealed class Verdicts
{
    private readonly DetectorCore _detector;
    private readonly Targets _targets;
    private readonly AgentClock _clock;
    private readonly ILogger _logger;

    internal Verdicts(DetectorOptions options, Targets targets, AgentClock clock, ILogger logger)
    {
        _detector = new DetectorCore(options);
        _targets = targets;
        _clock = clock;
        _logger = logger;
    }

    internal void Tick() => _detector.Tick(_clock.Now);

    internal bool Watches(MonitoredNode node) => _detector.Watches(node.Address.Id);

    internal void Watch(MonitoredNode node) => _detector.Watch(
        node.Address, node.Role, _clock.Now, node.HasAnswered, node.Kind.ReturnsAfterLeaving);

    internal void Forget(NodeId id) => _detector.Forget(id);

    /// <summary>Samples of nodes that this agent does not watch are passed over.</summary>
    internal void Record(NodeId id, ProbeSample sample) => _detector.Record(id, sample, _clock.Now);

    /// <summary>The agent of a process has said that it stops.</summary>
    public void RecordLeaving(NodeEndpoint process)
    {
        foreach (var node in _targets.NodesAt(process)) _detector.RecordLeaving(node.Address.Id, _clock.Now);
    }

    public NodeVerdict Of(MonitoredNode node)
    {
        if (!Watches(node))
            return new NodeVerdict(node.Answers ? NodeHealth.Alive : NodeHealth.Unknown, TimeSpan.Zero, 0,
                Note: "watched by other agents");
        var verdict = _detector.Judge(node.Address.Id, _clock.Now);
        if (verdict.Health is NodeHealth.Failed or NodeHealth.Full && node.Says.Length > 0)
            return verdict with { Note = $"says {node.Says}, for {NodeVerdict.Seconds(verdict.Since)}" };
        return verdict.Health == NodeHealth.Silent && node.IsReachedByOthers
            ? verdict with { Health = NodeHealth.Partitioned, Note = $"{verdict.Why}, but another agent reaches it" }
            : verdict;
    }

    internal bool IsAlive(MonitoredNode node) => Of(node).Health == NodeHealth.Alive;

    /// <summary>The verdict on which the policy acts; unknown while it is to ignore this agent's own.</summary>
    public NodeVerdict ForPolicy(NodeId id) =>
        _targets.Find(id) is { } node && _clock.Now >= node.PausedUntil ? Of(node) : default;

    /// <summary>Spares or standbys that answer, in the order of their endpoints: every agent takes the same.</summary>
    public ImmutableArray<NodeAddress> Waiting(NodeRole role) =>
    [
        .. from node in _targets.Nodes
           where node.Role == role && _targets.DutyOf(node) is NodeDuty.Spare or NodeDuty.Standby && IsAlive(node)
               && _clock.Now >= node.PausedUntil
           orderby node.Address.Endpoint, node.Address.Id
           select node.Address,
    ];

    public IEnumerable<NodeId> Answering(NodeRole role) =>
        from node in _targets.Nodes
        where node.Role == role && Of(node).Health is NodeHealth.Alive or NodeHealth.Slow
        select node.Address.Id;

    /// <summary>Another agent reaches a node that is silent here.</summary>
    internal void RecordPartition(MonitoredNode node)
    {
        node.IsReachedByOthers = true;
        Report(node);
    }

    /// <summary>Logs the verdict if the node's health is another than at the last report.</summary>
    /// <returns>Whether the node was found gone just now.</returns>
    internal bool Report(MonitoredNode node)
    {
        var verdict = Of(node);
        var before = node.Reported;
        if (verdict.Health == before || !Watches(node)) return false;
        node.Reported = verdict.Health;
        var name = $"{node.Role} {node.Address.Endpoint}";
        if (verdict.Health == NodeHealth.Alive && before != NodeHealth.Unknown)
            DetectionLog.Recovered(_logger, name, before.ToString());
        if (verdict.Health is NodeHealth.Alive or NodeHealth.Unknown) return false;
        DetectionTelemetry.Suspicions.Add(1, "corfu.health".With(verdict.Health.ToString()));
        DetectionLog.Verdict(_logger, name, verdict.Health.ToString(), verdict.Why);
        return verdict.IsGone;
    }
}
