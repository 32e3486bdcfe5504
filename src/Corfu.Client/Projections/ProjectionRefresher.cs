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

    /// <summary>
    /// Perhaps what does not answer has been replaced: while anybody pauses, the layout is asked again and again, each time after a
    /// <see cref="CorfuClientOptions.RefreshShare"/> of the time since the first question. So a new epoch is known a small part later than the trouble
    /// lasted, and a long trouble costs few questions.
    /// </summary>
    public void BeginPause()
    {
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
        while (true)
        {
            await RefreshAsync();
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

    /// <summary>
    /// Waits for a projection above <paramref name="epoch"/>, which a node has refused as sealed. With none decided after
    /// <see cref="CorfuClientOptions.SuccessorTimeout"/>, the same membership is proposed (R14).
    /// </summary>
    public async ValueTask NewerThanAsync(Epoch epoch, Patience patience, CancellationToken cancellationToken)
    {
        var began = core.Time.GetTimestamp();
        while (core.View.Epoch <= epoch)
        {
            await RefreshAsync().WaitOrCancelAsync(cancellationToken);
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
    private Task RefreshAsync()
    {
        lock (_gate)
        {
            if (_running is { IsCompleted: false }) return _running;
            return _running = RunAsync();
        }
    }

    private async Task RunAsync()
    {
        // Off the gate before anything else.
        await Task.Yield();
        try
        {
            if (await core.Layout.ReadLatestAsync(core.View.Projection.Acceptors, core.Closed) is { } latest) Adopt(latest);
        }
        catch (CorfuException e)
        {
            ClientLog.NoProjection(core.Logger, e.Message);
        }
        catch (OperationCanceledException)
        {
            // The client is closed.
        }
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
            ClientLog.NoProjection(core.Logger, e.Message);
        }
    }

    public void Adopt(Projection projection)
    {
        if (!core.Projections.TryAdvance(projection)) return;
        ClientTelemetry.EpochChanges.Add(1);
        ClientLog.Adopted(core.Logger, projection.ToString(), projection.Reason);
    }
}
