namespace Corfu.Detection;

/// <summary>Samples in, verdicts out: one observer's view of the nodes that it watches. Pure, no clock: times are since
/// any fixed moment. Not thread-safe.</summary>
public sealed class DetectorCore
{
    private readonly DetectorOptions _options;

    // Ordered, so that nothing depends on how identities hash. A process is in _processes as long as one of its nodes
    // is watched.
    private readonly SortedDictionary<NodeId, NodeState> _nodes = [];
    private readonly SortedDictionary<NodeEndpoint, ProcessState> _processes = [];
    private TimeSpan? _lastTick;

    public DetectorCore(DetectorOptions? options = null)
    {
        _options = options ?? new DetectorOptions();
        _options.Validate();
    }

    /// <summary>Starts to watch a node. For a node that is watched already, only its endpoint changes.</summary>
    /// <param name="hasAnswered">The node answered before it was watched, so it is not starting.</param>
    /// <param name="mayReturn">Whether it may come back under its identity after it has said that it stops.</param>
    public void Watch(
        NodeAddress node, NodeRole role, TimeSpan now, bool hasAnswered = false, bool mayReturn = true)
    {
        if (_nodes.TryGetValue(node.Id, out var known) && known.Endpoint == node.Endpoint) return;
        Forget(node.Id);
        if (!_processes.TryGetValue(node.Endpoint, out var process))
            _processes.Add(node.Endpoint, process = new ProcessState(_options, now));
        _nodes.Add(node.Id, new NodeState(node.Endpoint, role, process, now, hasAnswered, mayReturn));
    }

    public void Forget(NodeId node)
    {
        if (_nodes.Remove(node, out var state) && !_nodes.Values.Any(other => other.Process == state.Process))
            _processes.Remove(state.Endpoint);
    }

    public bool Watches(NodeId node) => _nodes.ContainsKey(node);

    public void Record(NodeId node, ProbeSample sample, TimeSpan now)
    {
        if (!_nodes.TryGetValue(node, out var state)) return;
        ForgiveStall(now);
        state.Record(sample, now);
        if (sample.IsSignOfLife) state.Process.Answer(now);
        else if (sample.Outcome is ProbeOutcome.Refused or ProbeOutcome.Replaced) state.Process.Refuse();
    }

    /// <summary>The node has said that it stops. A node that never returns under its identity is missed as soon as it
    /// refuses: another takes over.</summary>
    public void RecordLeaving(NodeId node, TimeSpan now)
    {
        if (_nodes.TryGetValue(node, out var state) && state.MayReturn) state.LeftAt = now;
    }

    /// <summary>Called at least once per <see cref="DetectorOptions.Interval"/>. After a longer pause the agent itself
    /// stood still, and what it missed meanwhile is held against no node.</summary>
    public void Tick(TimeSpan now)
    {
        ForgiveStall(now);
        _lastTick = now;
        foreach (var (node, state) in _nodes) JudgeSpeed(node, state, now);
    }

    public NodeVerdict Judge(NodeId node, TimeSpan now)
    {
        if (!_nodes.TryGetValue(node, out var s))
            return new NodeVerdict(NodeHealth.Unknown, TimeSpan.Zero, 0, Note: "not watched");
        // After a stall, until the next tick or sample, verdicts are as of the last tick.
        if (_lastTick is { } last && now - last > _options.OwnStall) now = last;
        var silence = now - s.LastAnswer;
        var phi = s.Process.Phi(now);
        if (s.ReplacedSince is { } replaced) return Of(NodeHealth.Replaced, now - replaced);
        if (s.LeftAt is { } left && now - left < _options.LeaveGrace) return Of(NodeHealth.Leaving, now - left);
        if (s.Failures >= _options.MinFailures) return Of(NodeHealth.Failed, now - s.FirstFailure);
        if (!s.HasAnswered && now - s.WatchedSince < _options.FirstAnswer)
            return Of(NodeHealth.Unknown, now - s.WatchedSince, "it has not answered yet");
        if (s.Refusals >= _options.MinRefusals && now - s.FirstRefusal >= _options.DeadAfter)
            return Of(NodeHealth.Dead, now - s.FirstRefusal);
        if (IsSilent(s, phi, now)) return Of(NodeHealth.Silent, silence);
        if (s.OverloadedSince is { } overloaded) return Of(NodeHealth.Overloaded, now - overloaded);
        if (s.FullSince is { } full) return Of(NodeHealth.Full, now - full);
        if (s.IsSlow) return Of(NodeHealth.Slow, now - s.SlowSince!.Value);
        return s.HasAnswered
            ? Of(NodeHealth.Alive, now - s.AliveSince)
            : Of(NodeHealth.Unknown, now - s.WatchedSince, "it has never answered");

        NodeVerdict Of(NodeHealth health, TimeSpan since, string? note = null) =>
            new(health, since, phi, s.RoundTrip, note);
    }

    // Before a sample that follows a stall is recorded: the stall is no interval between answers.
    private void ForgiveStall(TimeSpan now)
    {
        if (_lastTick is not { } last || now - last <= _options.OwnStall) return;
        foreach (var state in _nodes.Values) state.Forgive(now - last);
        foreach (var process in _processes.Values) process.Forgive(now - last);
        _lastTick = now;
    }

    // A process that answers in none of its roles is frozen or cut off; a role that does not answer while its process
    // does is stuck.
    private bool IsSilent(NodeState state, double phi, TimeSpan now)
    {
        var silence = now - state.Process.LastAnswer;
        if (silence < _options.SilentAfter) return state.Process.LastAnswer - state.LastAnswer >= _options.SilentAfter;
        return phi >= _options.SilentPhi && (silence >= 2 * _options.SilentAfter || !AreOthersLate(state.Process, now));
    }

    // Most of the other processes are late too: that says more about this agent or its machine than about them.
    private bool AreOthersLate(ProcessState process, TimeSpan now)
    {
        var (prompt, late) = (0, 0);
        foreach (var other in _processes.Values)
        {
            if (other == process || other.IsRefusing || !other.HasAnswered) continue;
            if (now - other.LastAnswer < _options.SilentAfter * 0.75) prompt++;
            else late++;
        }

        return late > prompt;
    }

    // Hysteresis: a slow node stays slow until it is clearly below the limit.
    private void JudgeSpeed(NodeId node, NodeState state, TimeSpan now)
    {
        var reach = state.IsSlow ? 0.5 : 1;
        var floor = _options.SlowFloor.TotalMilliseconds;
        if (state.RoundTrip < floor * reach
            || state.RoundTrip < MedianOfOthers(node, state.Role) * _options.SlowFactor * reach)
        {
            state.SlowSince = null;
            state.IsSlow = false;
            return;
        }

        state.SlowSince ??= now;
        state.IsSlow = state.IsSlow || now - state.SlowSince.Value >= _options.SlowAfter;
    }

    private double MedianOfOthers(NodeId node, NodeRole role)
    {
        List<double> others = [];
        foreach (var (id, state) in _nodes)
        {
            if (id != node && state.Role == role && state.HasAnswered) others.Add(state.RoundTrip);
        }

        // Nothing to compare with: the floor alone says what is slow.
        if (others.Count == 0) return 0;
        others.Sort();
        return others[others.Count / 2];
    }
}
