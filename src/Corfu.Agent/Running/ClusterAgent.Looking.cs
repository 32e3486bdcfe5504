using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Agent;

/// <summary>Who is there, and how each of them is.</summary>
public sealed partial class ClusterAgent
{
    /// <summary>Adds a process. Beyond <see cref="AgentOptions.MaxPeers"/> it is ignored.</summary>
    private void Meet(NodeEndpoint endpoint)
    {
        lock (_gate)
        {
            if (_peers.Count < _options.MaxPeers && !_peers.ContainsKey(endpoint)) _peers.Add(endpoint, new Peer(endpoint));
        }
    }

    // Guarded by the caller. What the projection names, and what waits on the processes known: spares, standbys, agents.
    private void ChooseSubjects(TimeSpan now)
    {
        _subjectsAreStale = false;
        SortedDictionary<NodeId, (NodeAddress Address, NodeRole Role)> wanted = [];
        if (_projection is { } projection)
        {
            foreach (var unit in projection.Units) wanted[unit.Id] = (unit, NodeRole.Unit);
            foreach (var acceptor in projection.Acceptors) wanted[acceptor.Id] = (acceptor, NodeRole.Acceptor);
            wanted[projection.Sequencer.Id] = (projection.Sequencer, NodeRole.Sequencer);
        }

        foreach (var peer in _peers.Values)
        {
            foreach (var role in peer.Roles)
            {
                if (role.Id == Id) continue;
                wanted.TryAdd(role.Id, (new NodeAddress(role.Id, peer.Endpoint), role.Role));
            }
        }

        foreach (var id in _subjects.Keys.Where(id => !wanted.ContainsKey(id)).ToList())
        {
            _subjects.Remove(id);
            _reported.Remove(id);
            _detector.Forget(id);
        }

        foreach (var (id, (address, role)) in wanted)
        {
            if (_subjects.TryGetValue(id, out var known) && known.Address == address) continue;
            _subjects[id] = new Subject(address, role);
            _detector.Watch(address, role, now);
        }
    }

    private async Task DescribeAsync(Peer peer)
    {
        NodeDescription? description = null;
        using var timeout = new CancellationTokenSource(_options.ProbeTimeout, _time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, _stopped);
        try
        {
            description = await _probes.DescribeAsync(peer.Endpoint, either.Token);
        }
        catch (Exception e) when (e is TransportException or OperationCanceledException)
        {
            // Its roles, if any are known, are looked at one by one.
        }

        lock (_gate)
        {
            peer.IsDescribing = false;
            // A process is asked again only when its agent is not reached any more.
            peer.NextDescribe = description is null || peer.Agent.IsNone ? Now + _options.SlowInterval : TimeSpan.MaxValue;
            if (description is null || peer.Roles.AsSpan().SequenceEqual(description.Roles.AsSpan())) return;
            peer.Roles = description.Roles;
            peer.NextDescribe = peer.Agent.IsNone ? Now + _options.SlowInterval : TimeSpan.MaxValue;
            _subjectsAreStale = true;
        }
    }

    private async Task LookAsync(Subject subject)
    {
        var sample = await SampleAsync(subject.Role, subject.Address, subject, _options.ProbeTimeout);
        bool worse;
        lock (_gate)
        {
            subject.IsLooking = false;
            var now = Now;
            _detector.Record(subject.Address.Id, sample, now);
            var answered = sample.Outcome is ProbeOutcome.Answered or ProbeOutcome.Full or ProbeOutcome.Failed;
            if (answered) subject.ReachedBy = null;
            var verdict = VerdictOf(subject, now);
            // In a hurry until it is certain; those who heal what a dead process leaves need the processors more.
            subject.NextLook = now + (answered ? IntervalOf(subject.Role) : verdict.IsGone ? _options.Detector.Interval : _options.Step);
            // A removed unit that has formatted itself anew is another role of the same process.
            if (_peers.TryGetValue(subject.Address.Endpoint, out var peer) && peer.NextDescribe == TimeSpan.MaxValue
                && (sample.Outcome == ProbeOutcome.Replaced
                    ? peer.Roles.Any(role => role.Id == subject.Address.Id)
                    : subject.Role == NodeRole.Agent && !answered && sample.Outcome != ProbeOutcome.None))
                peer.NextDescribe = now;
            worse = Report(subject, verdict);
        }

        if (worse) Consider();
        if (sample.Outcome == ProbeOutcome.Answered) await CatchUpAsync(subject);
    }

    // Guarded by the caller.
    private TimeSpan IntervalOf(NodeRole role)
    {
        if (role == NodeRole.Acceptor) return _options.SlowInterval;
        return _options.Detector.Interval * Math.Max(1, Math.Ceiling((double)_subjects.Count / _options.NodesPerInterval));
    }

    private async Task<ProbeSample> SampleAsync(NodeRole role, NodeAddress address, Subject? subject, TimeSpan patience)
    {
        var began = _time.GetTimestamp();
        using var timeout = new CancellationTokenSource(patience, _time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, _stopped);
        try
        {
            var status = role switch
            {
                NodeRole.Unit => Take(subject, await _probes.CallAsync(address, new UnitInfoRequest(EpochNow()), either.Token)),
                NodeRole.Sequencer => Take(subject, await _probes.CallAsync(address, new SequencerInfoRequest(EpochNow()), either.Token)),
                NodeRole.Acceptor => Take(await _probes.CallAsync(address, new LatestRequest(EpochNow()), either.Token)),
                _ => Take(await _probes.CallAsync(address, new PingRequest(EpochNow(), Self, false, AutomationNow()), either.Token)),
            };
            return ProbeSample.Of(status, _time.GetElapsedTime(began));
        }
        catch (TransportException e)
        {
            return ProbeSample.Of(e.Fault, _time.GetElapsedTime(began));
        }
        catch (OperationCanceledException)
        {
            return new ProbeSample(_stopped.IsCancellationRequested ? ProbeOutcome.None : ProbeOutcome.Nothing, _time.GetElapsedTime(began));
        }
    }

    private Status Take(Subject? subject, UnitInfoResponse response)
    {
        if (subject is not null)
        {
            lock (_gate)
            {
                subject.Says = response.Reason;
                if (response.IsOk) subject.Epoch = response.Installed;
                if (response.IsOk) subject.IsFresh = response.Installed == Epoch.None && response.Pages == 0 && response.End == LogPosition.Zero;
            }
        }

        if (!response.IsOk) return response.Status;
        Hint(response.Installed);
        return response.Health switch
        {
            UnitHealth.Failed => Status.Failed,
            UnitHealth.ReadOnly => Status.NoSpace,
            _ => Status.Ok,
        };
    }

    private Status Take(Subject? subject, SequencerInfoResponse response)
    {
        if (!response.IsOk || subject is null) return response.Status;
        lock (_gate) subject.Epoch = response.Epoch;
        Hint(response.Epoch);
        return response.Status;
    }

    private Status Take(LayoutResponse response)
    {
        if (response.Latest is { } latest) Hint(latest.Epoch);
        return response.Status;
    }

    private Status Take(PingResponse response)
    {
        if (!response.IsOk) return response.Status;
        Hint(response.Epoch);
        Adopt(response.Automation);
        foreach (var peer in response.Peers) Meet(peer);
        return response.Status;
    }

    /// <summary>A node that serves an older epoch than the newest is told (R14); a client that met it would do the same.</summary>
    private async Task CatchUpAsync(Subject subject)
    {
        Projection? newest;
        lock (_gate)
        {
            newest = _projection;
            var named = newest is not null && (newest.HasUnit(subject.Address.Id) || newest.Sequencer.Id == subject.Address.Id);
            if (!named || subject.Epoch >= newest!.Epoch || Now < subject.NextInstall) return;
            // Whoever made the epoch installs it everywhere: only what that has missed is left over for us.
            var first = subject.NextInstall == TimeSpan.Zero;
            subject.NextInstall = Now + _options.SlowInterval;
            if (first) return;
        }

        AckRequest request = subject.Role == NodeRole.Unit ? new InstallRequest(newest) : new BootstrapRequest(newest);
        await TellAsync(subject.Address, request);
    }

    // Guarded by the caller. True when the verdict has become one to act on.
    private bool Report(Subject subject, NodeVerdict verdict)
    {
        var before = _reported.GetValueOrDefault(subject.Address.Id);
        if (verdict.Health == before) return false;
        _reported[subject.Address.Id] = verdict.Health;
        var name = $"{subject.Role} {subject.Address.Endpoint}";
        if (verdict.Health == NodeHealth.Alive && before != NodeHealth.Unknown) AgentLog.Recovered(_logger, name, before.ToString());
        if (verdict.Health is NodeHealth.Alive or NodeHealth.Unknown) return false;
        AgentTelemetry.Suspicions.Add(1, new KeyValuePair<string, object?>("health", verdict.Health.ToString()));
        AgentLog.Verdict(_logger, name, verdict.Health.ToString(), verdict.Why);
        return verdict.IsGone;
    }

    // Guarded by the caller.
    private NodeVerdict VerdictOf(Subject subject, TimeSpan now)
    {
        var verdict = _detector.Judge(subject.Address.Id, now);
        if (verdict.Health is NodeHealth.Failed or NodeHealth.Full && subject.Says.Length > 0) verdict = verdict with { Note = $"says {subject.Says}, for {NodeVerdict.Seconds(verdict.Since)}" };
        return verdict.Health == NodeHealth.Silent && subject.ReachedBy is { } other
            ? verdict with { Health = NodeHealth.Partitioned, Note = $"{verdict.Why}, but {other} reaches it" }
            : verdict;
    }
}
