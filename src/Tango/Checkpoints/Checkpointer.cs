using Corfu.Protocol;
using Microsoft.Extensions.Logging;
using Tango.Playback;

namespace Tango.Checkpoints;

/// <summary>
/// Makes the checkpoints that the policy asks for, beside playback, one at a time, and trims the log behind them. One
/// that fails is logged and tried again after more updates.
/// </summary>
/// <param name="runtime">Its identity.</param>
/// <param name="policy">Null: none by itself.</param>
/// <param name="mayWrite">Whether the directory is open and takes claims.</param>
/// <param name="findClaim">The unit's claim that the directory knows.</param>
/// <param name="checkpoint">Returns the checkpoint's end.</param>
/// <param name="trim">Trims what no claim needs any more.</param>
/// <param name="freePinned">Sees to units that are not open here and hold the trim point; what is played is
/// given.</param>
internal sealed class Checkpointer(
    ulong runtime, CheckpointPolicy? policy, Func<bool> mayWrite, Func<HostedUnit, UnitClaim> findClaim,
    Func<HostedUnit, CancellationToken, ValueTask<LogPosition>> checkpoint,
    Func<CancellationToken, ValueTask> trim, Action<LogPosition> freePinned, LoopContext loops, ILogger logger,
    CancellationToken lifetime)
{
    // So many at most follow one checkpoint that was due, so that a runtime with thousands of idle objects does not
    // write their checkpoints only.
    private const int MaxBehind = 256;

    // Of the log, about: what a large object's checkpoint is weighed against.
    private const int BytesOfPosition = 512;

    // In positions: far more than the checkpoints of one look take.
    private const long MinBetweenLooks = 16 * MaxBehind;

    private readonly Lock _gate = new();

    // Guarded by _gate. Null stands for a look at all units.
    private readonly Queue<HostedUnit?> _due = [];
    private bool _isRunning;

    // Guarded by _gate: what was played when all units were looked at last.
    private LogPosition? _lookedAt;

    // Guarded by _gate, by first member: the newest checkpoint when this runtime last looked.
    private readonly Dictionary<ObjectId, LogPosition?> _known = [];

    // Guarded by _gate: members without views, of which the log has been told.
    private readonly HashSet<ObjectId> _lacking = [];

    // Guarded by _gate, by first member.
    private readonly SortedDictionary<ObjectId, HostedUnit> _watched = [];

    /// <summary>The unit is open: from now on its checkpoints are made here.</summary>
    public void Watch(HostedUnit unit)
    {
        if (policy is null) return;
        Know(unit, findClaim(unit).Checkpoint);
        lock (_gate) _watched[unit.Objects[0].Id] = unit;
        unit.Traffic.Watch(policy.SpreadFor(runtime, unit.Objects[0].Id), () => Enqueue(unit));
    }

    /// <summary>The unit is not hosted any more.</summary>
    public void Unwatch(HostedUnit unit)
    {
        lock (_gate)
        {
            _watched.Remove(unit.Objects[0].Id);
            _known.Remove(unit.Objects[0].Id);
        }
    }

    /// <summary>The log has grown. If the units that are open here have few updates, none of them is due, but others
    /// may wait for their claims to rise.</summary>
    public void OnPlayed(LogPosition end)
    {
        if (policy is null) return;
        lock (_gate)
        {
            _lookedAt ??= end;
            if (end - _lookedAt.Value <= Math.Max(policy.Updates, MinBetweenLooks)) return;
            _lookedAt = end;
        }

        Enqueue(null);
    }

    // Within a cycle of the player, so that nothing is done here.
    private void Enqueue(HostedUnit? unit)
    {
        lock (_gate)
        {
            _due.Enqueue(unit);
            if (_isRunning) return;
            _isRunning = true;
        }

        loops.Start(RunAsync);
    }

    private async Task RunAsync()
    {
        // Out of the cycle.
        await Task.Yield();
        while (true)
        {
            HostedUnit? unit;
            LogPosition? end;
            lock (_gate)
            {
                if (lifetime.IsCancellationRequested || !_due.TryDequeue(out unit))
                {
                    _isRunning = false;
                    return;
                }

                end = _lookedAt;
            }

            if (unit is not null) end = await TryCheckpointAsync(unit, Known(unit));
            if (end is { } played) await TryRaiseTrimPointAsync(played);
        }
    }

    /// <summary>Units with few updates: without a new checkpoint now and then, they would hold the trim
    /// point.</summary>
    private List<(LogPosition? Newest, HostedUnit Unit)> FindBehind(LogPosition end)
    {
        List<HostedUnit> watched;
        lock (_gate) watched = [.. _watched.Values];
        var behind = new List<(LogPosition? Newest, HostedUnit Unit)>();
        foreach (var unit in watched)
        {
            var claim = findClaim(unit);
            // A large one waits longer, as with updates of its own: about as many bytes of the log as it has itself.
            var patience = Math.Max(policy!.Updates, unit.Traffic.CheckpointSize / BytesOfPosition);
            if (end - (claim.Checkpoint ?? claim.Forget) > patience
                && unit.Objects.All(static member => member.Stopped is null)) behind.Add((claim.Checkpoint, unit));
        }

        return [.. behind.OrderBy(static found => found.Newest).Take(MaxBehind)];
    }

    private async ValueTask TryRaiseTrimPointAsync(LogPosition end)
    {
        try
        {
            if (!mayWrite()) return;
            lock (_gate) _lookedAt = LogPosition.Max(_lookedAt ?? end, end);
            foreach (var (newest, unit) in FindBehind(end)) await TryCheckpointAsync(unit, newest);
            if (!policy!.TrimsLog) return;
            await trim(lifetime);
            freePinned(end);
        }
        catch (Exception e)
        {
            if (!lifetime.IsCancellationRequested)
                logger.LogWarning(e, "The log was not trimmed; it is tried again after the next checkpoint");
        }
    }

    /// <param name="known">The newest checkpoint when it was decided that one is needed: another host may have made
    /// one since.</param>
    /// <returns>End of the unit's newest checkpoint; null: there is none.</returns>
    private async ValueTask<LogPosition?> TryCheckpointAsync(HostedUnit unit, LogPosition? known)
    {
        // Before it is captured: what comes meanwhile may be counted for the next one as well.
        var (updates, bytes) = (unit.Traffic.Updates, unit.Traffic.Bytes);
        try
        {
            if (!mayWrite() || !HasAllViews(unit))
            {
                unit.Traffic.Failed();
                return null;
            }

            var newest = findClaim(unit).Checkpoint;
            if (newest is null || newest == known) newest = await checkpoint(unit, lifetime);
            Know(unit, newest);
            unit.Traffic.Done(updates, bytes);
            return newest;
        }
        catch (Exception e)
        {
            unit.Traffic.Failed();
            if (!lifetime.IsCancellationRequested)
                logger.LogWarning(e, "No checkpoint of {Name} was made; it is tried again", unit.Objects[0].Name);
            return null;
        }
    }

    /// <summary>R20: a checkpoint has all members. A runtime that lacks a member's type leaves it to others.</summary>
    private bool HasAllViews(HostedUnit unit)
    {
        if (unit.Viewless is not { } viewless) return true;
        lock (_gate)
        {
            if (!_lacking.Add(viewless.Id)) return false;
        }

        logger.LogWarning(
            "No checkpoints of the group {Group} are made here: {Name} is of type {Type}, which this program does not "
            + "know", viewless.Entry.Group, viewless.Name, viewless.Entry.TypeName);
        return false;
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
