using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>
/// Samples in, verdicts out: one observer's view of the nodes that it looks at. Pure, no clock: times are since any fixed moment. Not
/// thread-safe.
/// </summary>
public sealed class DetectorCore
{
    private readonly DetectorOptions _options;

    // Ordered, so that nothing depends on how identities hash.
    private readonly SortedDictionary<NodeId, SubjectState> _subjects = [];
    private readonly Dictionary<NodeId, NodeRole> _roles = [];

    // Every subject's process stands here as long as one of its subjects is watched.
    private readonly SortedDictionary<NodeEndpoint, ProcessState> _processes = [];
    private readonly Dictionary<NodeId, NodeEndpoint> _endpoints = [];
    private TimeSpan? _lastTick;

    public DetectorCore(DetectorOptions? options = null)
    {
        _options = options ?? new DetectorOptions();
        _options.Validate();
    }

    /// <summary>Starts to look at a node; once more only changes where it is.</summary>
    public void Watch(NodeAddress subject, NodeRole role, TimeSpan now)
    {
        if (_endpoints.TryGetValue(subject.Id, out var before) && before != subject.Endpoint) Leave(subject.Id);
        if (_subjects.TryAdd(subject.Id, new SubjectState(_options, now))) _roles[subject.Id] = role;
        _endpoints[subject.Id] = subject.Endpoint;
        _processes.TryAdd(subject.Endpoint, new ProcessState(_options, now));
    }

    public void Forget(NodeId subject)
    {
        _subjects.Remove(subject);
        _roles.Remove(subject);
        Leave(subject);
    }

    private void Leave(NodeId subject)
    {
        if (_endpoints.Remove(subject, out var endpoint) && !_endpoints.ContainsValue(endpoint)) _processes.Remove(endpoint);
    }

    public bool Watches(NodeId subject) => _subjects.ContainsKey(subject);

    public void Record(NodeId subject, ProbeSample sample, TimeSpan now)
    {
        if (!_subjects.TryGetValue(subject, out var state)) return;
        state.Take(sample, now);
        var process = _processes[_endpoints[subject]];
        if (sample.Outcome is ProbeOutcome.Answered or ProbeOutcome.Full or ProbeOutcome.Failed) process.Answer(now);
        else if (sample.Outcome is ProbeOutcome.Refused or ProbeOutcome.Replaced) process.Refuse();
    }

    /// <summary>The node has said that it goes.</summary>
    public void RecordLeaving(NodeId subject, TimeSpan now)
    {
        if (_subjects.TryGetValue(subject, out var state)) state.LeftAt = now;
    }

    /// <summary>Called at least once per <see cref="DetectorOptions.Interval"/>: whatever is late then is late because this agent was.</summary>
    public void Tick(TimeSpan now)
    {
        if (_lastTick is { } last && now - last > _options.OwnStall)
        {
            foreach (var state in _subjects.Values) state.Forgive(now - last);
            foreach (var process in _processes.Values) process.Forgive(now - last);
        }

        _lastTick = now;
        foreach (var (subject, state) in _subjects) JudgeSpeed(subject, state, now);
    }

    public NodeVerdict Judge(NodeId subject, TimeSpan now)
    {
        if (!_subjects.TryGetValue(subject, out var s)) return new NodeVerdict(NodeHealth.Unknown, TimeSpan.Zero, 0, Note: "not watched");
        var silence = now - s.LastAnswer;
        var phi = s.Window.Phi(silence);
        if (s.ReplacedSince is { } replaced) return Of(NodeHealth.Replaced, now - replaced);
        if (s.LeftAt is { } left && now - left < _options.LeaveGrace) return Of(NodeHealth.Leaving, now - left);
        if (s.Failures >= _options.MinFailures) return Of(NodeHealth.Failed, now - s.FirstFailure);
        if (!s.HasAnswered && now - s.WatchedSince < _options.FirstAnswer) return Of(NodeHealth.Unknown, now - s.WatchedSince, "it has not answered yet");
        if (s.Refusals >= _options.MinRefusals && now - s.FirstRefusal >= _options.DeadAfter) return Of(NodeHealth.Dead, now - s.FirstRefusal);
        // Nobody's patience is shorter than SilentAfter.
        if (silence >= _options.SilentAfter && phi >= _options.SilentPhi && silence >= PatienceWith(subject, now)) return Of(NodeHealth.Silent, silence);
        if (s.FullSince is { } full) return Of(NodeHealth.Full, now - full);
        if (s.IsSlow) return Of(NodeHealth.Slow, now - s.SlowSince!.Value);
        return s.HasAnswered ? Of(NodeHealth.Alive, now - s.AliveSince) : Of(NodeHealth.Unknown, now - s.WatchedSince, "it has never answered");

        NodeVerdict Of(NodeHealth health, TimeSpan since, string? note = null) => new(health, since, phi, s.RoundTrip, note);
    }

    // A role alone may wait for its disk; a process that has been answering and is silent as a whole while the others are not has been frozen or cut off.
    private TimeSpan PatienceWith(NodeId subject, TimeSpan now)
    {
        var process = _processes[_endpoints[subject]];
        var patience = process.Patience(now);
        return process.IsSettled && now - process.LastAnswer >= patience && OthersAnswer(process, now) ? patience : _options.StuckAfter;
    }

    private bool OthersAnswer(ProcessState process, TimeSpan now)
    {
        var prompt = 0;
        var late = 0;
        foreach (var other in _processes.Values)
        {
            if (other == process || other.IsRefusing || !other.HasAnswered) continue;
            if (now - other.LastAnswer < _options.SilentAfter - _options.Interval) prompt++;
            else late++;
        }

        return prompt > 0 && prompt >= late;
    }

    // Hysteresis: what is slow stays so until it is clearly below the limit.
    private void JudgeSpeed(NodeId subject, SubjectState state, TimeSpan now)
    {
        var reach = state.IsSlow ? 0.5 : 1;
        var floor = _options.SlowFloor.TotalMilliseconds;
        if (state.RoundTrip < floor * reach || state.RoundTrip < MedianOfOthers(subject) * _options.SlowFactor * reach)
        {
            state.SlowSince = null;
            state.IsSlow = false;
            return;
        }

        state.SlowSince ??= now;
        state.IsSlow = state.IsSlow || now - state.SlowSince.Value >= _options.SlowAfter;
    }

    private double MedianOfOthers(NodeId subject)
    {
        var role = _roles[subject];
        List<double> others = [];
        foreach (var (id, state) in _subjects)
        {
            if (id != subject && _roles[id] == role && state.HasAnswered) others.Add(state.RoundTrip);
        }

        // Nobody to compare with: the floor alone says what is slow.
        if (others.Count == 0) return 0;
        others.Sort();
        return others[others.Count / 2];
    }
}
