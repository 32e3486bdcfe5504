using Microsoft.Extensions.Logging;
using Tango.Playback;
using Tango.Transactions;

namespace Tango.Runtime;

/// <summary>Registers observers: see <see cref="IApplyObserver"/>.</summary>
internal sealed class ObserverOpener(PlaybackParts playback, TransactionFlow flow, ILogger logger)
{
    public async ValueTask<IDisposable> OpenAsync(
        IEnumerable<TangoObject> handles, IApplyObserver observer, CancellationToken cancellationToken)
    {
        flow.RequireNone();
        var observed = new List<(TangoObject Handle, CohortUse Use)>();
        ApplyObservation? observation = null;
        try
        {
            foreach (var handle in handles)
            {
                var host = handle.Host as ObjectHost ?? throw new TangoReadOnlyException(handle.ObjectName);
                host.RequireSame(flow);
                if (observed.Exists(other => other.Handle.ObjectId == handle.ObjectId))
                    throw new ArgumentException($"'{handle.ObjectName}' is named twice", nameof(handles));
                var use = await host.UseAsync(cancellationToken);
                observed.Add((handle, use));
                await playback.Cohorts.RebuildIfStoppedAsync(use.Hosted, cancellationToken);
            }

            observation = new ApplyObservation(observer, observed, logger);
            await playback.Player.ObserveAsync(observation, cancellationToken);
            return observation;
        }
        catch
        {
            if (observation is not null) observation.Dispose();
            else observed.ForEach(static used => used.Use.Dispose());
            throw;
        }
    }
}
