namespace Corfu.Agent;

/// <summary>
/// Makes one change at a time, from verdicts to an epoch without the nodes that are gone:
/// <code>
///        verdicts ask for it      it is this agent's turn     others share the suspicion
///   Idle ------------------> Proposed ------------------> Asking ------------------> Deciding
///    ^   verdicts ask for nothing |             they do not |     an epoch is decided |
///    +----------------------------+-------------------------+-------------------------+
/// </code>
/// <c>_change is null</c> if and only if Idle; <c>_stop is not null</c> if and only if Asking or Deciding. Agents need
/// no agreement on who acts: the layout decides one successor per epoch (R12).
/// </summary>
internal sealed class ChangeState(AgentOptions options, ClusterView view, Verdicts verdicts, AgentOrder order,
    SuspicionPoll suspicions, Reconfigurer reconfigurer, AgentClock clock, ILogger logger)
{
    private enum State
    {
        Idle,
        Proposed,
        Asking,
        Deciding,
    }

    private readonly PolicyCore _policy = new(options.Policy);
    private State _state;
    private PlannedChange? _change;
    private TimeSpan _since;
    private CancellationTokenSource? _stop;

    // The projection of the last step.
    private Projection? _seen;

    /// <summary>The change that would be made and may not, and the reason.</summary>
    public string Note { get; private set; } = "";

    public bool IsRunning => _state is State.Asking or State.Deciding;

    /// <summary>Serving nodes that the change leaves behind which the last step asked for; none where agents may make
    /// none.</summary>
    public int Gone { get; private set; }

    /// <summary>Completes when nothing is under way.</summary>
    public Task Ended { get; private set; } = Task.CompletedTask;

    /// <summary>Looks at the verdicts and starts what follows from them.</summary>
    /// <param name="mayAct">False: another run of this agent is under way, so that a change is prepared and not
    /// begun.</param>
    public void Step(bool mayAct, CancellationToken stopped)
    {
        if (view.Projection is not { } projection) return;
        if (_seen is { } before && before.Epoch < projection.Epoch) _policy.Saw(before, projection, clock.Now);
        _seen = projection;
        var decision = Decide(projection);
        var change = view.Automation.IsOn ? decision.Change : null;
        Gone = change is null ? 0 : change.Exits.Length + (change.NewSequencer is null ? 0 : 1);
        Tell(change is null && decision.Change is { } wanted ? $"switched off: {wanted}" : decision.Note);
        switch (_state)
        {
            case State.Idle when change is not null:
                BecomeProposed(change);
                break;
            case State.Proposed when change is null:
                BecomeIdle();
                break;
            case State.Proposed when !change!.IsSame(_change):
                BecomeProposed(change);
                break;
            case State.Asking or State.Deciding
                when change is not null && change.Exits.Length > _change!.Exits.Length && !change.IsSame(_change):
                // The run may wait for the seal of a unit that is now known to be gone.
                _stop!.Cancel();
                break;
        }

        if (mayAct && _state == State.Proposed
            && clock.Now - _since >= options.BackOffStep * Rank(_change!, projection))
            BecomeAsking(projection, stopped);
    }

    private void BecomeIdle()
    {
        _state = State.Idle;
        _change = null;
        _stop?.Dispose();
        _stop = null;
    }

    private void BecomeProposed(PlannedChange change)
    {
        _state = State.Proposed;
        _change = change;
        _since = clock.Now;
    }

    private void BecomeAsking(Projection projection, CancellationToken stopped)
    {
        _state = State.Asking;
        _stop = CancellationTokenSource.CreateLinkedTokenSource(stopped);
        Ended = RunAsync(_change!, projection, _stop.Token);
    }

    private async Task RunAsync(PlannedChange change, Projection projection, CancellationToken cancellationToken)
    {
        using var activity = AgentTelemetry.Activities.StartActivity("corfu.agent.reconfigure");
        var began = clock.Now;
        try
        {
            change = await WithoutSilentAcceptorAsync(change, cancellationToken);
            if (change.IsEmpty) return;
            if (!await suspicions.IsAgreedAsync(change.Suspects(projection), cancellationToken))
            {
                AgentTelemetry.Disagreements.Add(1);
                AgentLog.Disagreed(logger, change.ToString());
                return;
            }

            _state = State.Deciding;
            AgentLog.Deciding(logger, change.ToString());
            var reason = new ReconfigurationReason(true, options.Self.ToString(), change.ToString()).ToString();
            var decided = await reconfigurer.ReconfigureAsync(projection, change.Apply, reason, cancellationToken);
            if (decided.Epoch > projection.Epoch)
            {
                AgentTelemetry.Reconfigurations.Add(1);
                AgentTelemetry.ReconfigurationTime.Record((clock.Now - began).TotalSeconds);
            }

            view.Adopt(decided);
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            // The agent stops, or a larger change takes its place.
        }
        catch (CorfuException e)
        {
            AgentLog.ChangeFailed(logger, e.Message);
        }
        catch (Exception e)
        {
            AgentLog.TaskFailed(logger, e);
        }
        finally
        {
            BecomeIdle();
        }
    }

    // An acceptor that is gone too would be refused, and the rest of the change with it (R12).
    private async Task<PlannedChange> WithoutSilentAcceptorAsync(
        PlannedChange change, CancellationToken cancellationToken)
    {
        if (change.Acceptor is not { } acceptor
            || await suspicions.AnswersAsync(NodeRole.Acceptor, acceptor.New, cancellationToken)) return change;
        AgentLog.NoAnswer(logger, acceptor.New.Endpoint.ToString());
        return change with { Acceptor = null };
    }

    private PolicyDecision Decide(Projection projection)
    {
        var view = new PolicyView(projection, verdicts.ForPolicy, verdicts.Waiting(NodeRole.Unit),
            verdicts.Waiting(NodeRole.Sequencer), verdicts.Waiting(NodeRole.Acceptor));
        return _policy.Decide(view, clock.Now);
    }

    // The watchers of a process that is gone act in their order; what concerns no process is for the first agent of
    // all. The agents of processes that go are left out: their own silence may be noticed a probe later.
    private int Rank(PlannedChange change, Projection projection)
    {
        HashSet<NodeEndpoint> going = [.. change.Exits.Where(exit => !exit.Keeps).Select(exit => exit.Unit.Endpoint)];
        if (change.NewSequencer is not null) going.Add(projection.Sequencer.Endpoint);
        HashSet<NodeEndpoint> processes = [.. going, .. change.Exits.Select(exit => exit.Unit.Endpoint)];
        if (change.Acceptor is { } acceptor) processes.Add(acceptor.Old.Endpoint);
        return processes.Count > 0
            ? processes.Min(process => order.RankFor(process, going.Contains))
            : order.Rank;
    }

    private void Tell(string note)
    {
        if (note.Length > 0 && Note.Length == 0) AgentLog.Held(logger, note);
        Note = note;
    }
}
