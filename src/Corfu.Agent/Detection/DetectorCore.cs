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
        foreach (var (subject, state) in _subjects) JudgeSpeed(state, MedianOfOthers(subject), now);
    }

    public NodeVerdict Judge(NodeId subject, TimeSpan now)
    {
        if (!_subjects.TryGetValue(subject, out var s)) return new NodeVerdict(NodeHealth.Unknown, TimeSpan.Zero, 0, "not watched");
        var silence = now - s.LastAnswer;
        var phi = s.Window.Phi(silence);
        if (s.ReplacedSince is { } replaced) return new NodeVerdict(NodeHealth.Replaced, now - replaced, phi, "another identity answers in its place");
        if (s.LeftAt is { } left && now - left < _options.LeaveGrace)
            return new NodeVerdict(NodeHealth.Leaving, now - left, phi, $"stopped in good order {NodeVerdict.Seconds(now - left)} ago");
        if (s.Failures >= _options.MinFailures)
            return new NodeVerdict(NodeHealth.Failed, now - s.FirstFailure, phi, $"says that its disk has failed, for {NodeVerdict.Seconds(now - s.FirstFailure)}");
        if (!s.HasAnswered && now - s.WatchedSince < _options.FirstAnswer)
            return new NodeVerdict(NodeHealth.Unknown, now - s.WatchedSince, phi, "it has not answered yet");
        if (s.Refusals >= _options.MinRefusals && now - s.FirstRefusal >= _options.DeadAfter)
            return new NodeVerdict(NodeHealth.Dead, now - s.FirstRefusal, phi, $"refuses connections for {NodeVerdict.Seconds(now - s.FirstRefusal)}");
        if (silence >= PatienceWith(subject, now) && phi >= _options.SilentPhi)
            return new NodeVerdict(NodeHealth.Silent, silence, phi, $"no answer for {NodeVerdict.Seconds(silence)} (phi {Math.Min(phi, 99):0})");
        if (s.FullSince is { } full) return new NodeVerdict(NodeHealth.Full, now - full, phi, $"says that its disk is full, for {NodeVerdict.Seconds(now - full)}");
        if (s.IsSlow)
            return new NodeVerdict(NodeHealth.Slow, now - s.SlowSince!.Value, phi, $"takes {s.RoundTrip:0} ms to answer, for {NodeVerdict.Seconds(now - s.SlowSince!.Value)}");
        return s.HasAnswered
            ? new NodeVerdict(NodeHealth.Alive, now - s.AliveSince, phi, $"answers in {s.RoundTrip:0.0} ms")
            : new NodeVerdict(NodeHealth.Unknown, now - s.WatchedSince, phi, "it has never answered");
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
    private void JudgeSpeed(SubjectState state, double median, TimeSpan now)
    {
        var limit = Math.Max(_options.SlowFloor.TotalMilliseconds, median * _options.SlowFactor);
        if (state.RoundTrip < (state.IsSlow ? limit / 2 : limit))
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
