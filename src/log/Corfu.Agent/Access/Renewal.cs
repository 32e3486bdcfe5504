namespace Corfu.Agent;

/// <summary>Gives a sealed epoch its successor when the reconfigurer that sealed it has died (R14): ends the ballot
/// that is left, or proposes the same membership. It works with automation off as well, since it changes no
/// membership.</summary>
/// <remarks>
/// Invariant: at most one run is under way, and none before a unit has refused the newest epoch for
/// <see cref="AgentOptions.SuccessorTimeout"/>. Liveness: clients only wait, so some agent must act wherever a majority
/// of acceptors and the units that must be sealed can be reached. Every agent that watches a sealed unit does, each
/// later than the live ones that watch it before; the layout decides one successor (R12).
/// </remarks>
/// <param name="acceptors">Acceptors that answer, whether the newest projection names them or not.</param>
internal sealed class Renewal(ClusterView view, Func<ImmutableArray<NodeAddress>> acceptors, Reconfigurer reconfigurer,
    TimeSpan patience, AgentClock clock, ILogger logger)
{
    private Epoch _sealedTo;
    private TimeSpan _since;

    public bool IsRunning { get; private set; }

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
    public void Step(int before, CancellationToken stopped)
    {
        if (IsRunning || _sealedTo <= view.Epoch || view.Projection is null) return;
        if (clock.Now - _since < patience * (1 + before)) return;
        IsRunning = true;
        Ended = RunAsync(_sealedTo, stopped);
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
            // The agent stops.
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
            IsRunning = false;
            _since = clock.Now;
        }
    }
}
