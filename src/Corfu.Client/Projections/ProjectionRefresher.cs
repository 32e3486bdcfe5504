using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>Learns newer projections from the layout; one question at a time, however many operations wait for it.</summary>
internal sealed class ProjectionRefresher(ClientCore core)
{
    private readonly Lock _gate = new();

    // Guarded by _gate. _pausing: operations that wait because something does not answer. _watching: a loop asks the layout, as long as there are any.
    private Task? _running;
    private int _pausing;
    private bool _watching;

    private bool _lookingOut;
    private string? _reported;

    /// <summary>
    /// From now on the acceptors tell of a newer projection as soon as there is one. A frozen node fails no call for as long as a call may take, so
    /// that nobody would ask: the calls to it end when the projection without it is known.
    /// </summary>
    public void LookOut()
    {
        if (!Volatile.Read(ref _lookingOut) && !Interlocked.Exchange(ref _lookingOut, true)) LookOutAsync(core.Closed).Abandon();
    }

    /// <summary>
    /// Perhaps what does not answer has been replaced. In case that no acceptor can tell (<see cref="LookOut"/>) they are asked again and again while
    /// anybody pauses, each time after a <see cref="CorfuClientOptions.RefreshShare"/> of the time since the first question, so that a long trouble
    /// costs few questions.
    /// </summary>
    public void BeginPause()
    {
        LookOut();
        lock (_gate)
        {
            _pausing++;
            if (_watching) return;
            _watching = true;
        }

        _ = WatchAsync();
    }

    public void EndPause()
    {
        lock (_gate) _pausing--;
    }

    private async Task WatchAsync()
    {
        var began = core.Time.GetTimestamp();
        var finished = TimeSpan.Zero;
        while (true)
        {
            // A ballot under way is its proposer's; one whose proposer has died must be ended by somebody.
            var elapsed = core.Time.GetElapsedTime(began);
            var finish = elapsed - finished >= core.Options.SuccessorTimeout;
            if (finish) finished = elapsed;
            await RefreshAsync(finish);
            var wait = core.Time.GetElapsedTime(began) * core.Options.RefreshShare;
            if (wait < core.Options.RefreshInterval) wait = core.Options.RefreshInterval;
            if (wait > core.Options.MaxRetryDelay) wait = core.Options.MaxRetryDelay;
            try
            {
                await Task.Delay(wait, core.Time, core.Closed);
            }
            catch (OperationCanceledException)
            {
                return;
            }

            lock (_gate)
            {
                if (_pausing > 0) continue;
                _watching = false;
                return;
            }
        }
    }

    private async Task LookOutAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            var began = core.Time.GetTimestamp();
            if (await core.Layout.WatchAsync(core.View.Projection, cancellationToken) is { } newer)
            {
                Adopt(newer);
                // What has waited for this goes on first.
                await Task.Delay(core.Options.RefreshInterval, core.Time, cancellationToken);
            }
            // Otherwise it was waited for, and nothing has changed.
            else if (core.Time.GetElapsedTime(began) < core.Options.MaxRetryDelay) await Task.Delay(core.Options.MaxRetryDelay, core.Time, cancellationToken);
        }
    }

    /// <summary>
    /// Waits for a projection above <paramref name="epoch"/>, which a node has refused as sealed. With none decided after
    /// <see cref="CorfuClientOptions.SuccessorTimeout"/>, the same membership is proposed (R14).
    /// </summary>
    public async ValueTask NewerThanAsync(Epoch epoch, Patience patience, CancellationToken cancellationToken)
    {
        var began = core.Time.GetTimestamp();
        while (core.View.Epoch <= epoch)
        {
            await RefreshAsync(finish: false).WaitOrCancelAsync(cancellationToken);
            if (core.View.Epoch > epoch) return;
            if (core.Time.GetElapsedTime(began) >= core.Options.SuccessorTimeout)
            {
                ClientLog.ProposingSame(core.Logger, epoch.ToString());
                await RenewAsync(epoch, cancellationToken);
                began = core.Time.GetTimestamp();
            }

            await patience.PauseAsync(epoch, $"{epoch} is sealed and has no successor.");
        }
    }

    /// <summary>Never fails: a layout that cannot be asked leaves things as they are.</summary>
    private Task RefreshAsync(bool finish)
    {
        lock (_gate)
        {
            if (_running is { IsCompleted: false }) return _running;
            return _running = RunAsync(finish);
        }
    }

    private async Task RunAsync(bool finish)
    {
        // Off the gate before anything else.
        await Task.Yield();
        try
        {
            var known = core.View.Projection;
            var latest = finish ? await core.Layout.ReadLatestAsync(known.Acceptors, core.Closed) : await core.Layout.PeekAsync(known, core.Closed);
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

    // An absent cluster is asked many times a second: only a change is worth a line.
    private void Report(string why)
    {
        if (Interlocked.Exchange(ref _reported, why) != why) ClientLog.NoProjection(core.Logger, why);
    }

    // Any successor will do: the clients that wait for one all propose it, and whoever comes second must not end the first one's epoch.
    private async ValueTask RenewAsync(Epoch epoch, CancellationToken cancellationToken)
    {
        try
        {
            Adopt(await core.Reconfigurer.ReconfigureAsync(
                core.View.Projection, p => p.Epoch > epoch ? null : Membership.Of(p), "a seal without a successor", cancellationToken));
        }
        catch (CorfuException e)
        {
            Report(e.Message);
        }
    }

    /// <summary>Calls to nodes that are gone end, with the connections to them.</summary>
    public void LetGo(Projection before, Projection projection)
    {
        foreach (var unit in before.Units)
        {
            if (!projection.HasUnit(unit.Id)) core.Transport.Drop(unit);
        }

        if (before.Sequencer.Id != projection.Sequencer.Id) core.Transport.Drop(before.Sequencer);
    }

    public void Adopt(Projection projection)
    {
        var before = core.View.Projection;
        if (!core.Projections.TryAdvance(projection)) return;

        LetGo(before, projection);
        ClientTelemetry.EpochChanges.Add(1);
        ClientLog.Adopted(core.Logger, projection.ToString(), projection.Reason);
    }
}
