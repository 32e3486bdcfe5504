using Corfu;
using Microsoft.Extensions.Logging;
using Tango.Chores;
using Tango.Model;
using Tango.Playback;

namespace Tango.Upkeep;

/// <summary>
/// Keeps the log short and openings quick, beside playback and one thing after the other. (1) Makes the checkpoints
/// that the policy asks for: of a cohort that has had so many updates, and of all whose claims are too far behind, open
/// here or nowhere. (2) Trims the log behind what counts then. One that fails is logged and tried again.
/// </summary>
/// <param name="runtime">Identity of the runtime.</param>
/// <param name="policy">Null: none by itself.</param>
/// <param name="directory">Tells no claims while it is not served.</param>
internal sealed class Checkpointer(
    ulong runtime, CheckpointPolicy? policy, PlayedDirectory directory, CheckpointMaker maker, Trimmer trimmer,
    ChoreLoop chores, ILogger logger, CancellationToken lifetime) : IChore
{
    // Largest number of checkpoints that follow one that was due. A runtime with thousands of idle objects must not
    // write theirs only.
    private const int MaxBehind = 256;

    private const int MaxOfUnhosted = 2;

    // Bytes of the log for each position, about: a large object's checkpoint is weighed against them.
    private const int BytesOfPosition = 512;

    // In positions: far more than the checkpoints of one look take.
    private const long MinBetweenLooks = 16 * MaxBehind;

    private readonly Lock _gate = new();

    // Guarded by _gate. Null stands for a look at all cohorts.
    private readonly Queue<Cohort?> _due = [];

    // Guarded by _gate: what was played when all cohorts were looked at last.
    private LogPosition? _lookedAt;

    // Guarded by _gate, by first member: the newest checkpoint when this runtime last looked.
    private readonly Dictionary<ObjectId, LogPosition?> _known = [];

    // Guarded by _gate: members without views, of which the log has been told.
    private readonly HashSet<ObjectId> _lacking = [];

    // Guarded by _gate, by first member.
    private readonly Dictionary<ObjectId, Cohort> _watched = [];

    /// <summary>The cohort is open: from now on its checkpoints are made here.</summary>
    public void Watch(Cohort cohort)
    {
        if (policy is null) return;
        Know(cohort, FindClaim(cohort).Checkpoint);
        lock (_gate) _watched[cohort.Objects[0].Id] = cohort;
        cohort.Traffic.Watch(policy.SpreadFor(runtime, cohort.Objects[0].Id), () => Enqueue(cohort));
    }

    /// <summary>The cohort is not hosted any more.</summary>
    public void Unwatch(Cohort cohort)
    {
        lock (_gate)
        {
            _watched.Remove(cohort.Objects[0].Id);
            _known.Remove(cohort.Objects[0].Id);
        }
    }

    /// <summary>The log has grown. If the cohorts that are open here have few updates, none of them is due, but others
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
    private void Enqueue(Cohort? cohort)
    {
        lock (_gate) _due.Enqueue(cohort);
        chores.Schedule(this, TimeSpan.Zero);
    }

    public async Task<TimeSpan?> RunAsync()
    {
        while (true)
        {
            Cohort? cohort;
            LogPosition? end;
            lock (_gate)
            {
                if (lifetime.IsCancellationRequested || !_due.TryDequeue(out cohort)) return null;
                end = _lookedAt;
            }

            var density = 1L;
            if (cohort is not null)
            {
                var known = Known(cohort);
                var (begin, bytes) = (known ?? FindClaim(cohort).Forget, cohort.Traffic.BytesSinceCheckpoint);
                end = await TryCheckpointAsync(cohort, known);
                if (end > begin) density = Math.Max(1, bytes / BytesOfPosition / (end.Value - begin));
            }

            if (end is { } played) await TryRaiseTrimPointAsync(played, density);
        }
    }

    /// <summary>
    /// Cohorts with few updates, and those that no runtime has open: without a new checkpoint now and then, they would
    /// hold the trim point. In the order of what they need, the oldest first.
    /// </summary>
    /// <param name="density">How many usual positions (<see cref="BytesOfPosition"/>) one holds lately: entries of many
    /// updates would fill a disk before their positions are many.</param>
    private async ValueTask CheckpointBehindAsync(LogPosition end, long density)
    {
        if (directory.Claims is not { } claims) return;
        // Others hold the log: it costs as much, and frees nothing.
        var isHeld = claims.ByForget.IsEmpty || claims.Lowest < claims.ByForget.Min.Forget;
        var made = 0;
        foreach (var (_, id) in claims.ByForget)
        {
            if (made >= MaxBehind || lifetime.IsCancellationRequested) return;
            var claim = claims.Cohorts[id];
            if (FindWatched(id) is { } cohort)
            {
                if (!IsBehind(cohort, claim, end, density)) continue;
                await TryCheckpointAsync(cohort, claim.Checkpoint);
                made++;
            }
            else if (policy!.TrimsLog && !isHeld && IsPinned(id, end, density))
            {
                made += await TryCheckpointUnhostedAsync(id, end, density);
                isHeld = IsPinned(id, end, density);
            }
        }
    }

    private bool IsBehind(Cohort cohort, CohortClaim claim, LogPosition end, long density)
    {
        // A large one waits longer, as with updates of its own: about as many bytes of the log as it has itself.
        var patience = Math.Max(policy!.Updates, cohort.Traffic.CheckpointSize / BytesOfPosition) / density;
        return end - (claim.Checkpoint ?? claim.Forget) > patience
            && cohort.Objects.All(static member => member.Stopped is null || member.IsRemoved);
    }

    /// <summary>Whether a cohort that is not open here holds too much. Hosts make their checkpoints twice as
    /// early.</summary>
    private bool IsPinned(ObjectId id, LogPosition end, long density)
    {
        if (directory.Claims is not { } claims || !claims.Cohorts.TryGetValue(id, out var claim)) return false;
        var patience = 2 * policy!.SpreadFor(runtime, id).Updates / density;
        // Values in the log may have been replaced since the newest checkpoint; that one tells no more of them.
        var (held, slack) = claim is { IsHeldByValues: true, Checkpoint: { } newest }
            ? (newest, 0)
            : (claim.Forget, directory.MaxSpan);
        return end - held > patience + slack;
    }

    /// <summary>Usually no runtime has it open.</summary>
    /// <returns>How many were made.</returns>
    private async ValueTask<int> TryCheckpointUnhostedAsync(ObjectId id, LogPosition end, long density)
    {
        // A claim rises to the last checkpoint but one. If it does not, an undecided record holds it.
        for (var made = 0; made < MaxOfUnhosted; made++)
        {
            if (!IsPinned(id, end, density) || maker.FindUnhosted(id) is not { } members) return made;
            try
            {
                await maker.MakeUnhostedAsync(members, lifetime);
            }
            catch (Exception e)
            {
                if (!lifetime.IsCancellationRequested)
                    logger.LogWarning(e, "{Name} holds the log and was not checkpointed; it is tried again",
                        members[0].Name);
                return made;
            }
        }

        return MaxOfUnhosted;
    }

    private async ValueTask TryRaiseTrimPointAsync(LogPosition end, long density)
    {
        try
        {
            if (directory.Claims is null) return;
            lock (_gate) _lookedAt = LogPosition.Max(_lookedAt ?? end, end);
            await CheckpointBehindAsync(end, density);
            if (policy!.TrimsLog) await trimmer.TrimAsync(lifetime);
        }
        catch (Exception e)
        {
            if (!lifetime.IsCancellationRequested)
                logger.LogWarning(e, "The log was not trimmed; it is tried again after the next checkpoint");
        }
    }

    /// <param name="known">The newest checkpoint when it was decided that one is needed: another host may have made
    /// one since.</param>
    /// <returns>End of the cohort's newest checkpoint; null: there is none.</returns>
    private async ValueTask<LogPosition?> TryCheckpointAsync(Cohort cohort, LogPosition? known)
    {
        // Before it is captured: what comes meanwhile may be counted for the next one as well.
        var (updates, bytes) = (cohort.Traffic.Updates, cohort.Traffic.Bytes);
        try
        {
            if (directory.Claims is null || !HasAllViews(cohort))
            {
                cohort.Traffic.Failed();
                return null;
            }

            var newest = FindClaim(cohort).Checkpoint;
            if (newest is null || newest == known) newest = await maker.MakeAsync(cohort, lifetime);
            Know(cohort, newest);
            cohort.Traffic.Done(updates, bytes);
            return newest;
        }
        catch (Exception e)
        {
            cohort.Traffic.Failed();
            if (!lifetime.IsCancellationRequested)
                logger.LogWarning(e, "No checkpoint of {Name} was made; it is tried again", cohort.Objects[0].Name);
            return null;
        }
    }

    /// <summary>R20: a checkpoint has all members. A runtime that lacks a member's type leaves it to others.</summary>
    private bool HasAllViews(Cohort cohort)
    {
        if (cohort.Viewless is not { } viewless) return true;
        lock (_gate)
        {
            if (!_lacking.Add(viewless.Id)) return false;
        }

        logger.LogWarning(
            "No checkpoints of the group {Group} are made here: {Name} is of type {Type}, which this program does not "
            + "know. If no program needs it any more, 'corfu object delete' removes it", viewless.Entry.Group,
            viewless.Name, viewless.Entry.TypeName);
        return false;
    }

    private CohortClaim FindClaim(Cohort cohort) =>
        directory.Claims?.Cohorts.GetValueOrDefault(cohort.Objects[0].Id) ?? default;

    private Cohort? FindWatched(ObjectId first)
    {
        lock (_gate) return _watched.GetValueOrDefault(first);
    }

    private void Know(Cohort cohort, LogPosition? newest)
    {
        lock (_gate) _known[cohort.Objects[0].Id] = newest;
    }

    private LogPosition? Known(Cohort cohort)
    {
        lock (_gate) return _known.GetValueOrDefault(cohort.Objects[0].Id);
    }
}
