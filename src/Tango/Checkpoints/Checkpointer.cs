using Corfu.Protocol;
using Microsoft.Extensions.Logging;
using Tango.Playback;

namespace Tango.Checkpoints;

/// <summary>
/// Makes the checkpoints that the policy asks for, beside playback, one at a time. One that fails is logged and tried
/// again after more updates.
/// </summary>
/// <param name="policy">Null: none by itself.</param>
/// <param name="mayWrite">Whether the log's level allows checkpoints.</param>
/// <param name="findNewest">End of the unit's newest checkpoint that the directory knows; null: none.</param>
/// <param name="checkpoint">Returns the checkpoint's end.</param>
internal sealed class Checkpointer(
    CheckpointPolicy? policy, Func<bool> mayWrite, Func<HostedUnit, LogPosition?> findNewest,
    Func<HostedUnit, CancellationToken, ValueTask<LogPosition>> checkpoint, ILogger logger,
    CancellationToken lifetime)
{
    private readonly Lock _gate = new();

    // Guarded by _gate.
    private readonly Queue<HostedUnit> _due = [];
    private bool _isRunning;

    // Guarded by _gate, by first member: the newest checkpoint when this runtime last looked.
    private readonly Dictionary<ObjectId, LogPosition?> _known = [];

    /// <summary>The unit is open: from now on its checkpoints are made here.</summary>
    public void Watch(HostedUnit unit)
    {
        if (policy is null) return;
        Know(unit, findNewest(unit));
        unit.Traffic.Watch(policy, () => Enqueue(unit));
    }

    // Within a cycle of the player, so that nothing is done here.
    private void Enqueue(HostedUnit unit)
    {
        lock (_gate)
        {
            _due.Enqueue(unit);
            if (_isRunning) return;
            _isRunning = true;
        }

        _ = RunAsync();
    }

    private async Task RunAsync()
    {
        // Out of the cycle.
        await Task.Yield();
        while (true)
        {
            HostedUnit unit;
            lock (_gate)
            {
                if (lifetime.IsCancellationRequested || !_due.TryDequeue(out unit!))
                {
                    _isRunning = false;
                    return;
                }
            }

            await TryCheckpointAsync(unit);
        }
    }

    private async ValueTask TryCheckpointAsync(HostedUnit unit)
    {
        // Before it is captured: what comes meanwhile may be counted for the next one as well.
        var (updates, bytes) = (unit.Traffic.Updates, unit.Traffic.Bytes);
        try
        {
            if (!mayWrite())
            {
                unit.Traffic.Failed();
                return;
            }

            // Another host has made one meanwhile.
            var newest = findNewest(unit);
            if (newest is null || newest == Known(unit)) newest = await checkpoint(unit, lifetime);
            Know(unit, newest);
            unit.Traffic.Done(updates, bytes);
        }
        catch (Exception e)
        {
            unit.Traffic.Failed();
            if (!lifetime.IsCancellationRequested)
                logger.LogWarning(e, "No checkpoint of {Name} was made; it is tried again", unit.Objects[0].Name);
        }
    }

    private void Know(HostedUnit unit, LogPosition? newest)
    {
        lock (_gate) _known[unit.Objects[0].Id] = newest;
    }

    private LogPosition? Known(HostedUnit unit)
    {
        lock (_gate) return _known.GetValueOrDefault(unit.Objects[0].Id);
    }
}
