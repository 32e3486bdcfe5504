namespace Corfu.Agent;

/// <summary>Gives a sealed epoch its successor when the reconfigurer that sealed it has died (R14): ends the ballot
/// that is left, or proposes the same membership. It works with automation off as well, since it changes no
/// membership.</summary>
/// <remarks>
/// Invariant: at most one run is under way, and none before a unit has refused the newest epoch for <see
/// cref="AgentOptions.SuccessorTimeout"/>. Liveness: clients only wait, so some agent must act wherever a majority of
/// acceptors and the units that must be sealed can be reached. Every agent that watches a sealed unit does, each later
/// than the live ones that watch it before; the layout decides one successor (R12). A run makes room for a change that
/// leaves a node behind: the run may wait for that node, and the change's epoch is a successor too. Only nodes that
/// were found gone since the run began count, so that a suspicion that no other agent shares stops no second run.
/// </remarks>
/// <param name="acceptors">Acceptors that answer, whether the newest projection names them or not.</param>
internal sealed class Renewal(ClusterView view, Func<ImmutableArray<NodeAddress>> acceptors, Reconfigurer reconfigurer,
    TimeSpan patience, AgentClock clock, ILogger logger)
{
    private Epoch _sealedTo;
    private TimeSpan _since;
    private int _goneBefore;

    // Not null while a run is under way.
    private CancellationTokenSource? _stop;

    public bool IsRunning => _stop is not null;

    /// <summary>Completes when no run is under way.</summary>
    public Task Ended { get; private set; } = Task.CompletedTask;

    /// <summary>The process of the unit whose refusal was seen last.</summary>
    public NodeEndpoint At { get; private set; }

    /// <summary>A unit that the newest projection names refuses every epoch below this one.</summary>
    public void Saw(Epoch sealedTo, NodeEndpoint at)
    {
        if (sealedTo <= view.Epoch || sealedTo <= _sealedTo) return;
        if (_sealedTo <= view.Epoch) _since = clock.Now;
        (_sealedTo, At) = (sealedTo, at);
    }

    /// <param name="before">Live agents that act before this one, each after its own patience.</param>
    /// <param name="gone">Serving nodes that a change would leave behind (<see cref="ChangeState.Gone"/>).</param>
    public void Step(int before, int gone, CancellationToken stopped)
    {
        if (IsRunning)
        {
            if (gone > _goneBefore) _stop!.Cancel();
            return;
        }

        if (_sealedTo <= view.Epoch || view.Projection is null) return;
        if (clock.Now - _since < patience * (1 + before)) return;
        _goneBefore = gone;
        _stop = CancellationTokenSource.CreateLinkedTokenSource(stopped);
        Ended = RunAsync(_sealedTo, _stop.Token);
    }

    private async Task RunAsync(Epoch sealedTo, CancellationToken stopped)
    {
        try
        {
            // Ends a ballot that its proposer has left. The epoch may also be decided, and not known here yet.
            await view.RefreshAsync(acceptors(), stopped);
            if (view.Epoch >= sealedTo || view.Projection is not { } current) return;
            AgentLog.Renewing(logger, current.Epoch.ToString());
            view.Adopt(await reconfigurer.ReconfigureAsync(current,
                newest => newest.Epoch > current.Epoch ? null : Membership.Of(newest), "a seal without a successor",
                stopped));
        }
        catch (OperationCanceledException) when (stopped.IsCancellationRequested)
        {
            // The agent stops, or a change takes the place of the run.
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
            _stop!.Dispose();
            _stop = null;
            _since = clock.Now;
        }
    }
}
