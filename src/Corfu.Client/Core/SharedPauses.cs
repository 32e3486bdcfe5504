using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>
/// The pauses of operations in trouble. A node that is gone stops many at once, and the next epoch sends them on at once: those that begin the same pause
/// within a quarter of it share one timer, so that a failure is not made worse by their number.
/// </summary>
internal sealed class SharedPauses(ClientCore core)
{
    private readonly Lock _gate = new();

    // Guarded by _gate: the newest pause of each length, of which there are as many as doublings from the first to the longest.
    private readonly Dictionary<TimeSpan, (Epoch Epoch, long Began, Task Ended)> _newest = [];

    /// <summary>Completes after half of the length to all of it, or as soon as an epoch after this one is known; fails when the client is closed.</summary>
    public Task Begin(Epoch epoch, TimeSpan length)
    {
        lock (_gate)
        {
            if (_newest.TryGetValue(length, out var pause) && pause.Epoch == epoch && !pause.Ended.IsCompleted && core.Time.GetElapsedTime(pause.Began) * 4 < length)
                return pause.Ended;
            var jittered = length * (0.5 + (0.5 * core.Entropy.NextDouble()));
            pause = (epoch, core.Time.GetTimestamp(), core.DelayAsync(jittered, core.Projections.ChangedAfter(epoch), CancellationToken.None).AsTask());
            _newest[length] = pause;
            return pause.Ended;
        }
    }
}
