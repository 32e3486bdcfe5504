using Corfu.Client.Layout;
using Microsoft.Extensions.Logging;

namespace Corfu.Client;

/// <summary>Learns newer projections from the layout, with one request at a time for all operations.</summary>
internal sealed class ProjectionRefresher(ProjectionHolder projections, LayoutClient layout, Reconfigurer reconfigurer,
    ITransport transport, ClientClock clock, CorfuClientOptions options, ILogger logger)
{
    private readonly Lock _gate = new();

    // Guarded by _gate. _pausing: operations that wait because a node does not answer. _polling: while there are any, a
    // loop asks the layout.
    private Task? _running;
    private int _pausing;
    private bool _polling;

    private bool _watching;
    private string? _reported;

    // Else the agents end ballots and give a sealed epoch its successor: a client has no part in elections.
    private bool MayDecide => transport.Rights >= AccessRole.Admin;

    /// <summary>From now on the acceptors tell of a newer projection as soon as there is one. A call to a frozen node
    /// ends when the projection without that node is known, long before the request's time-out.</summary>
    public void Watch()
    {
        if (!Volatile.Read(ref _watching) && !Interlocked.Exchange(ref _watching, true)) clock.Loops.Start(WatchAsync);
    }

    /// <summary>Pauses an operation. A node that does not answer may have been replaced, so the acceptors are polled
    /// while any operation pauses, less often the longer that lasts.</summary>
    /// <exception cref="LogUnavailableException">The budget is spent.</exception>
    public async ValueTask PauseAsync(
        RetryBudget budget, Epoch epoch, string reason, Exception? cause, CancellationToken cancellationToken)
    {
        Watch();
        var first = false;
        lock (_gate)
        {
            _pausing++;
            if (!_polling) first = _polling = true;
        }

        if (first) clock.Loops.Start(PollAsync);
        try
        {
            await budget.PauseAsync(projections.ChangedAfter(epoch), reason, cause, cancellationToken);
        }
        finally
        {
            lock (_gate) _pausing--;
        }
    }

    private async Task PollAsync()
    {
        var began = clock.GetTimestamp();
        var finished = TimeSpan.Zero;
        while (true)
        {
            // A ballot under way is left to its proposer. After a while the proposer counts as dead, and this client
            // ends the ballot.
            var elapsed = clock.GetElapsedTime(began);
            var finish = MayDecide && elapsed - finished >= options.SuccessorTimeout;
            if (finish) finished = elapsed;
            await RefreshAsync(finish);
            var wait = Math.Max(clock.GetElapsedTime(began).Ticks / 10, options.RefreshInterval.Ticks);
            wait = Math.Min(wait, options.MaxRetryDelay.Ticks);
            await Task.Delay(TimeSpan.FromTicks(wait), clock.Time, clock.Closed);
            lock (_gate)
            {
                if (_pausing > 0) continue;
                _polling = false;
                return;
            }
        }
    }

    private async Task WatchAsync()
    {
        while (true)
        {
            var began = clock.GetTimestamp();
            Projection? newer = null;
            try
            {
                newer = await layout.WatchAsync(projections.Current.Projection, clock.Closed);
            }
            catch (CorfuDeniedException e)
            {
                // Asked again after the pause: the nodes may allow it by then.
                Report(e.Message);
            }

            if (newer is not null) Adopt(newer);

            // Otherwise it was waited for, and nothing has changed; an earlier answer says nothing.
            else if (clock.GetElapsedTime(began) < options.MaxRetryDelay)
                await Task.Delay(options.MaxRetryDelay, clock.Time, clock.Closed);
        }
    }

    /// <summary>Waits for a projection above <paramref name="epoch"/>, which a node has refused as sealed. With none
    /// decided after <see cref="CorfuClientOptions.SuccessorTimeout"/>, the same membership is proposed (R14), by this
    /// side if its role allows that, else by an agent.</summary>
    public async ValueTask NewerThanAsync(Epoch epoch, RetryBudget budget, CancellationToken cancellationToken)
    {
        var began = clock.GetTimestamp();
        while (projections.Current.Epoch <= epoch)
        {
            await RefreshAsync(finish: false).WaitOrCancelAsync(cancellationToken);
            if (projections.Current.Epoch > epoch) return;
            if (MayDecide && clock.GetElapsedTime(began) >= options.SuccessorTimeout)
            {
                ClientLog.ProposingSame(logger, epoch.ToString());
                await RenewAsync(epoch, cancellationToken);
                began = clock.GetTimestamp();
            }

            await PauseAsync(budget, epoch, $"{epoch} is sealed and has no successor.", null, cancellationToken);
        }
    }

    /// <summary>Never fails: a layout that cannot be asked leaves things as they are.</summary>
    private Task RefreshAsync(bool finish)
    {
        lock (_gate)
        {
            if (_running is { IsCompleted: false }) return _running;
            return _running = clock.Loops.RunAsync(() => RunAsync(finish));
        }
    }

    private async Task RunAsync(bool finish)
    {
        // Outside the lock: the call may complete synchronously.
        await Task.Yield();
        try
        {
            var known = projections.Current.Projection;
            var latest = finish
                ? await layout.ReadLatestAsync(known.Acceptors, clock.Closed)
                : await layout.PeekAsync(known, clock.Closed);
            if (latest is not null) Adopt(latest);
            _reported = null;
        }
        catch (CorfuException e)
        {
            Report(e.Message);
        }
        catch (OperationCanceledException)
        {
            // The client is closed.
        }
    }

    // An absent cluster is asked many times a second: only a change is logged.
    private void Report(string why)
    {
        if (Interlocked.Exchange(ref _reported, why) != why) ClientLog.NoProjection(logger, why);
    }

    // All waiting clients propose a successor. A second proposal must not end the first one's epoch, so any successor
    // will do.
    private async ValueTask RenewAsync(Epoch epoch, CancellationToken cancellationToken)
    {
        try
        {
            Adopt(await reconfigurer.ReconfigureAsync(projections.Current.Projection,
                p => p.Epoch > epoch ? null : Membership.Of(p), "a seal without a successor", cancellationToken));
        }
        catch (CorfuException e)
        {
            Report(e.Message);
        }
    }

    /// <summary>Adopts a newer projection. Connections to nodes that it does not name end, with the calls under
    /// way.</summary>
    public void Adopt(Projection projection)
    {
        var before = projections.Current.Projection;
        if (!projections.TryAdvance(projection)) return;
        foreach (var unit in before.Units.Where(u => !projection.HasUnit(u.Id))) transport.Drop(unit);
        if (before.Sequencer.Id != projection.Sequencer.Id) transport.Drop(before.Sequencer);
        ClientTelemetry.EpochChanges.Add(1);
        ClientLog.Adopted(logger, projection.ToString(), projection.Reason);
    }
}
