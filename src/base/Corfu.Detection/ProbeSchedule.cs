namespace Corfu.Detection;

/// <summary>When nodes are probed. A process that this agent watches (<see cref="PeerTable"/>) is probed at
/// <see cref="DetectorOptions.Interval"/> through its agent, its roles at <see cref="MonitorOptions.SlowInterval"/>,
/// and all at once when its agent does not answer. In every <see cref="MonitorOptions.SlowInterval"/> one of the other
/// processes is polled, so that spares and leaders are known; this agent never holds them gone.</summary>
internal sealed class ProbeSchedule(MonitorOptions options, Targets targets, Verdicts verdicts, AgentOrder order,
    AgentClock clock)
{
    private TimeSpan _nextPoll;

    /// <summary>Decides which processes this agent watches and which one it polls.</summary>
    public void Choose()
    {
        ChooseWatched();
        PollNext();
    }

    /// <summary>The processes that are to be asked now which roles they serve.</summary>
    public List<Peer> TakeUnidentified()
    {
        List<Peer> due = [.. targets.Processes.All.Where(p => !p.IsIdentifying && clock.Now >= p.NextIdentify)];
        foreach (var process in due) process.IsIdentifying = true;
        return due;
    }

    /// <summary>The nodes whose probes are due before the next step can come.</summary>
    /// <param name="next">How long until the next ones are due.</param>
    public List<MonitoredNode> TakeDue(out TimeSpan next)
    {
        var now = clock.Now;
        List<MonitoredNode> due = [];
        next = NextTick(now) - now;
        foreach (var node in targets.Nodes.Where(node => !node.IsProbing))
        {
            var rest = node.NextProbe - now;
            if (rest < options.Step) due.Add(node);
            else next = Min(next, rest);
        }

        foreach (var node in due) node.IsProbing = true;
        return due;
    }

    /// <summary>Follows a probe's sample with the time of the next one. The process of an agent that does not answer
    /// shows its state in its other roles, which may be new ones.</summary>
    public void Record(MonitoredNode node, ProbeSample sample)
    {
        node.IsProbing = false;
        if (targets.Processes.Find(node.Address.Endpoint) is { } process) RecordProcess(process, node, sample);
        node.NextProbe = NextProbe(node, sample);
    }

    /// <summary>No probe was made.</summary>
    public void Postpone(MonitoredNode node)
    {
        node.IsProbing = false;
        node.NextProbe = clock.Now + options.SlowInterval;
    }

    private void ChooseWatched()
    {
        var isAnyGone = targets.Nodes.Any(node => targets.DutyOf(node) == NodeDuty.Serving
            && verdicts.Of(node) is { IsGone: true } or { Health: NodeHealth.Partitioned });
        targets.Processes.Watch(order.IsAgentAlive, isAnyGone);
        foreach (var node in targets.Nodes)
        {
            var isWatched = targets.Processes.Find(node.Address.Endpoint) is null or { IsWatched: true };
            if (isWatched == verdicts.Watches(node)) continue;
            if (isWatched) verdicts.Watch(node);
            else verdicts.Forget(node.Address.Id);
            node.NextProbe = isWatched ? clock.Now : TimeSpan.MaxValue;
        }
    }

    private void PollNext()
    {
        var now = clock.Now;
        if (now < _nextPoll) return;
        _nextPoll = NextTick(now + options.SlowInterval - options.Detector.Interval);
        if (targets.Processes.NextToPoll() is not { } process) return;
        foreach (var node in targets.NodesAt(process.Endpoint)) node.NextProbe = now;
    }

    private void RecordProcess(Peer process, MonitoredNode node, ProbeSample sample)
    {
        var now = clock.Now;
        if (sample.IsSignOfLife) process.Hear(now);
        // A removed unit that has formatted itself anew is another role of the same process.
        if (sample.Outcome == ProbeOutcome.Replaced && process.Roles.Any(role => role.Id == node.Address.Id))
            process.IdentifyBy(now);
        if (node.Role != NodeRole.Agent || sample.Outcome == ProbeOutcome.None) return;
        process.AgentAnswers = sample.IsAnswer;
        if (sample.IsSignOfLife) return;
        process.IdentifyBy(now);
        foreach (var other in targets.NodesAt(process.Endpoint).Where(other => !other.Kind.IsAlwaysSlow))
            other.NextProbe = Min(other.NextProbe, now);
    }

    private TimeSpan NextProbe(MonitoredNode node, ProbeSample sample)
    {
        if (!verdicts.Watches(node)) return TimeSpan.MaxValue;
        var now = clock.Now;
        if (sample.Outcome == ProbeOutcome.Answered)
        {
            var hasAgent = targets.Processes.Find(node.Address.Endpoint) is { AgentAnswers: true };
            var isSlow = node.Kind.IsAlwaysSlow || (node.Role != NodeRole.Agent && hasAgent);
            return NextTick(isSlow ? now + options.SlowInterval - options.Detector.Interval : now);
        }

        // Each probe is a new connection: a process without a place for one is not asked more often for it.
        if (sample.Outcome == ProbeOutcome.Overloaded) return NextTick(now);

        // Probed often until the verdict is certain. After that, the repair needs the processors more.
        if (!verdicts.Of(node).IsGone) return now + options.Step;
        return now + (targets.DutyOf(node) == NodeDuty.Serving ? options.Detector.Interval : options.SlowInterval);
    }

    // Healthy nodes are probed at the same instants: an idle process costs its wake-ups. A step that comes shortly
    // before a tick stands for it.
    private TimeSpan NextTick(TimeSpan now)
    {
        var interval = options.Detector.Interval.Ticks;
        return new TimeSpan(((now + options.Step).Ticks / interval + 1) * interval);
    }

    private static TimeSpan Min(TimeSpan a, TimeSpan b) => a < b ? a : b;
}
