using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>From verdicts to an epoch without the nodes that are gone.</summary>
public sealed partial class ClusterAgent
{
    // Guarded by _gate. _planned: what would be done, and since when; _acting: what is being done.
    private PlannedChange? _planned;
    private TimeSpan _plannedSince;
    private PlannedChange? _acting;
    private CancellationTokenSource? _actingStop;
    private Task _action = Task.CompletedTask;

    /// <summary>Looks at the verdicts and starts what follows from them.</summary>
    private void Consider()
    {
        lock (_gate)
        {
            if (_projection is null) return;
            var now = Now;
            var decision = Decide(now);
            Note(decision.Note);
            if (decision.Change is not { } change || !_automation.IsOn)
            {
                _planned = null;
                if (decision.Change is { } wanted) Note($"switched off: {wanted}");
                return;
            }

            if (!change.IsSame(_planned)) _plannedSince = now;
            _planned = change;
            // A reconfiguration that waits for the seal of a unit that is now known to be gone would wait in vain.
            if (_acting is { } acting && !change.IsSame(acting) && change.Exits.Length > acting.Exits.Length) _actingStop?.Cancel();
            if (_acting is not null || now - _plannedSince < _options.BackOffStep * RankAmongAgents(process => IsGoing(process, change), now)) return;
            _acting = change;
            _actingStop = CancellationTokenSource.CreateLinkedTokenSource(_stopped);
            _action = ActAsync(change, _projection, _actingStop);
        }
    }

    // Guarded by the caller.
    private PolicyDecision Decide(TimeSpan now) => _policy.Decide(
        new PolicyView(
            _projection!,
            id => _subjects.TryGetValue(id, out var subject) && now >= subject.DoubtedUntil ? VerdictOf(subject, now) : default,
            Waiting(NodeRole.Unit, now),
            Waiting(NodeRole.Sequencer, now))
        {
            Acceptors = Waiting(NodeRole.Acceptor, now),
        },
        now);

    // Guarded by the caller. Spares or standbys that answer, in the order of their endpoints: every agent would take the same.
    private ImmutableArray<NodeAddress> Waiting(NodeRole role, TimeSpan now) =>
    [
        .. from subject in _subjects.Values
           where subject.Role == role && DutyOf(subject) is NodeDuty.Spare or NodeDuty.Standby
           where VerdictOf(subject, now).Health == NodeHealth.Alive
           orderby subject.Address.Endpoint, subject.Address.Id
           select subject.Address,
    ];

    // Guarded by the caller.
    private NodeDuty DutyOf(Subject subject)
    {
        if (_projection is not { } projection) return NodeDuty.None;
        return subject.Role switch
        {
            NodeRole.Unit when projection.HasUnit(subject.Address.Id) => NodeDuty.Serving,
            NodeRole.Unit => subject.IsFresh ? NodeDuty.Spare : subject.Epoch > Epoch.None ? NodeDuty.Removed : NodeDuty.None,
            NodeRole.Sequencer => projection.Sequencer.Id == subject.Address.Id ? NodeDuty.Serving : NodeDuty.Standby,
            NodeRole.Acceptor => projection.Acceptors.Any(acceptor => acceptor.Id == subject.Address.Id) ? NodeDuty.Serving : NodeDuty.Standby,
            _ => NodeDuty.Serving,
        };
    }

    // Guarded by the caller. The agents' order is that of their endpoints, those that are not heard left out. Nobody waits for the agent of a process that is
    // to go: its own silence may be noticed a look later.
    private int RankAmongAgents(Predicate<NodeEndpoint> isGoing, TimeSpan now) => _subjects.Values.Count(subject =>
        subject.Role == NodeRole.Agent && subject.Address.Endpoint.CompareTo(_options.Self) < 0 && VerdictOf(subject, now).Health == NodeHealth.Alive
        && !isGoing(subject.Address.Endpoint));

    // Guarded by the caller.
    private bool IsGoing(NodeEndpoint process, PlannedChange change) =>
        change.Exits.Any(exit => !exit.Keeps && exit.Unit.Endpoint == process)
        || (change.NewSequencer is not null && _projection!.Sequencer.Endpoint == process);

    private void Note(string note)
    {
        if (note == _note) return;
        if (note.Length > 0 && _note.Length == 0) AgentLog.Held(_logger, note);
        _note = note;
    }

    private async Task ActAsync(PlannedChange change, Projection projection, CancellationTokenSource stop)
    {
        // Off the gate before anything else.
        await Task.Yield();
        using var activity = AgentTelemetry.Activities.StartActivity("corfu.agent.reconfigure");
        try
        {
            if (!await IsAgreedAsync(change, projection, stop.Token)) return;
            AgentLog.Acting(_logger, change.ToString());
            var reason = new ReconfigurationReason(true, _options.Self.ToString(), change.ToString()).ToString();
            var decided = await _reconfigurer.ReconfigureAsync(projection, change.Apply, reason, stop.Token);
            if (decided.Epoch > projection.Epoch) AgentTelemetry.Reconfigurations.Add(1);
            Adopt(decided);
        }
        catch (CorfuException e)
        {
            AgentLog.ActionFailed(_logger, e.Message);
        }
        catch (OperationCanceledException)
        {
            // Stopped, or a larger change takes its place.
        }
        finally
        {
            lock (_gate)
            {
                _acting = null;
                _actingStop = null;
            }

            stop.Dispose();
        }
    }

    private async Task<bool> IsAgreedAsync(PlannedChange change, Projection projection, CancellationToken cancellationToken)
    {
        List<Task<bool>> questions = [];
        if (change.NewSequencer is not null) questions.Add(IsAgreedAsync(NodeRole.Sequencer, projection.Sequencer, cancellationToken));
        foreach (var acceptor in change.Acceptors) questions.Add(IsAgreedAsync(NodeRole.Acceptor, acceptor.Old, cancellationToken));
        foreach (var exit in change.Exits) questions.Add(IsAgreedAsync(NodeRole.Unit, exit.Unit, cancellationToken));
        var agreed = await Task.WhenAll(questions);
        if (agreed.All(yes => yes)) return true;
        AgentTelemetry.Doubts.Add(1);
        AgentLog.Doubted(_logger, change.ToString());
        return false;
    }

    private async Task<bool> IsAgreedAsync(NodeRole role, NodeAddress node, CancellationToken cancellationToken)
    {
        NodeVerdict mine;
        List<NodeAddress> others = [];
        lock (_gate)
        {
            if (!_subjects.TryGetValue(node.Id, out var subject)) return false;
            mine = VerdictOf(subject, Now);
            foreach (var agent in _subjects.Values)
            {
                if (agent.Role == NodeRole.Agent && agent.Address.Endpoint != node.Endpoint && !VerdictOf(agent, Now).IsCertain) others.Add(agent.Address);
            }
        }

        List<OpinionResponse> opinions = [];
        List<Task<OpinionResponse?>> asked = [.. others.Take(_options.MaxOpinions).Select(agent => AskAsync(agent, role, node, cancellationToken))];
        while (asked.Count > 0)
        {
            // Agents that are silent themselves are not waited for when they could not change the outcome.
            var first = await Task.WhenAny(asked);
            asked.Remove(first);
            if (await first is { } opinion) opinions.Add(opinion);
            if (SecondObserver.AgreesWhateverElse(mine, opinions, asked.Count)) break;
        }

        if (SecondObserver.Agrees(mine, opinions, others.Count)) return true;
        lock (_gate)
        {
            if (!_subjects.TryGetValue(node.Id, out var subject)) return false;
            subject.DoubtedUntil = Now + _options.DoubtPause;
            if (!SecondObserver.IsPartition(mine, opinions)) return false;
            subject.ReachedBy = "another agent";
            Report(subject, VerdictOf(subject, Now));
        }

        return false;
    }

    private async Task<OpinionResponse?> AskAsync(NodeAddress agent, NodeRole role, NodeAddress node, CancellationToken cancellationToken)
    {
        using var timeout = new CancellationTokenSource(_options.OpinionTimeout, _time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
        try
        {
            var opinion = await _probes.CallAsync(agent, new OpinionRequest(EpochNow(), role, node), either.Token);
            return opinion.IsOk ? opinion : null;
        }
        catch (TransportException)
        {
            return null;
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return null;
        }
    }

    private async Task EndActionAsync()
    {
        Task action;
        lock (_gate) action = _action;
        await action;
    }
}
