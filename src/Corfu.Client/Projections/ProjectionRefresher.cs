using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>Learns newer projections from the layout; one question at a time, however many operations wait for it.</summary>
internal sealed class ProjectionRefresher(ClientCore core)
{
    private readonly Lock _gate = new();

    // Guarded by _gate. _asked: when the last refresh began.
    private Task? _running;
    private long _asked;

    /// <summary>
    /// Starts a refresh, unless there was one within <see cref="CorfuClientOptions.RefreshInterval"/>. For nodes that do not answer: perhaps
    /// they have been replaced.
    /// </summary>
    public void Nudge()
    {
        lock (_gate)
        {
            if (_running is not null && core.Time.GetElapsedTime(_asked) < core.Options.RefreshInterval) return;
        }

        _ = RefreshAsync();
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
            _asked = core.Time.GetTimestamp();
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
