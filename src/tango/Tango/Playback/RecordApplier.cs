using Corfu;
using Microsoft.Extensions.Logging;
using Tango.Calls;
using Tango.Formatting;
using Tango.Model;
using Tango.Records;

namespace Tango.Playback;

/// <summary>
/// Applies the records of entries to hosted objects, synchronously and in log order, and decides commit records exactly
/// at their positions from versions alone, so that every runtime decides alike (Tango 3.2).
/// </summary>
/// <param name="calls">Null in a probe, which answers no caller.</param>
internal sealed class RecordApplier(HostedObjects hosted, Commits commits, SpilledWrites spilled,
    IPlaybackDirectory directory, CallBatcher? calls, IProbe? probe, ILogger logger)
{
    // R19: what playback waits for; empty: a decision (R20).
    private readonly List<RecordVersion> _missing = [];

    /// <summary>R19: the spills that playback waits for, after <see cref="ApplyRecords"/>; none: it waits for the
    /// decision (R20).</summary>
    public IReadOnlyList<RecordVersion> MissingSpills => _missing;

    /// <param name="now">Timestamp: the time of the decisions that are made here.</param>
    /// <returns>The commit record at which playback must wait; null at the end of the entry.</returns>
    public RecordVersion? ApplyRecords(LogEntry entry, ref EntryProgress progress, long now)
    {
        _missing.Clear();
        progress.Now = now;
        try
        {
            var reader = new MessagePackReader(entry.Payload);
            var header = EntryFormat.ReadHeader(ref reader);
            if (!progress.HasBegun && calls is not null) (progress.IsOwn, progress.Calls) = calls.TakePlayed(header);
            progress.HasBegun = true;
            for (var i = 0; i < progress.Next; i++) reader.SkipValue();
            for (; progress.Next < header.Records; progress.Next++)
            {
                var version = new RecordVersion(entry.Position, progress.Next);
                if (!TryReadRecord(ref reader, version, entry, progress)) return version;
                // R20: a probe ends at a commit record. The rest of the entry may need decisions of its own, which
                // need this one.
                if (probe is { IsOver: true }) return null;
            }

            TangoTelemetry.Records.Add(header.Records);
        }
        catch (Exception e) when (e is TangoLevelException || StrictMessagePack.IsDamage(e))
        {
            StopObjectsOf(
                entry, new RecordVersion(entry.Position, progress.Next),
                e as TangoLevelException ?? (Exception)TangoFormatException.Of(e));
            foreach (var call in progress.Calls?[progress.Next..] ?? [])
                call?.BecomeUnplayed(entry.Position, "The record's entry cannot be read", e);
        }

        return null;
    }

    /// <summary>Reads and applies a record as a whole, or passes over it as a whole. R20: those behind it are read all
    /// the same, for they may be decisions about records that stand earlier.</summary>
    /// <returns>False: a decision is needed first; nothing has been done.</returns>
    private bool TryReadRecord(ref MessagePackReader reader, RecordVersion version, LogEntry entry,
        in EntryProgress progress)
    {
        var start = reader;
        try
        {
            return TryApplyRecord(ref reader, version, progress);
        }
        catch (Exception e) when (StrictMessagePack.IsDamage(e))
        {
            StopObjectsOf(entry, version, TangoFormatException.Of(e));
            progress.Calls?[version.Index]?.BecomeUnplayed(version.Position, "The record cannot be read", e);
            reader = start;
            reader.SkipValue();
            return true;
        }
    }

    /// <summary>Has no effect if it throws.</summary>
    /// <returns>False: a decision is needed first; nothing has been done.</returns>
    private bool TryApplyRecord(ref MessagePackReader reader, RecordVersion version, in EntryProgress progress)
    {
        var call = progress.Calls?[version.Index];
        var elements = reader.ReadCount();
        var kind = elements > 0 ? (RecordKind)reader.ReadInt32() : 0;
        switch (kind)
        {
            case RecordKind.Update when elements == RecordFormat.UpdateLength:
                ApplyUpdate(CallRecord.Read(ref reader), version, call);
                return true;
            case RecordKind.Commit when elements == RecordFormat.CommitLength:
                return TryApplyCommit(ref reader, version, call, progress);
            case RecordKind.Decision when elements == RecordFormat.DecisionLength:
                commits.OnDecisionRecord(DecisionFormat.Read(ref reader), version);
                return true;
            case RecordKind.Spill when elements == RecordFormat.SpillLength:
                // R19: without effect here; its commit record names it.
                reader.SkipValue();
                return true;
            case >= RecordFormat.FirstWithoutEffect:
                for (var left = elements - 1; left > 0; left--) reader.SkipValue();
                return true;
            default:
                throw new TangoFormatException(
                    $"Record {version} has kind {(int)kind} with {elements} elements, which is not known here");
        }
    }

    private void ApplyUpdate(scoped in CallRecord update, RecordVersion version, PendingCall? call)
    {
        if (TangoDirectory.IsDeletion(update, out var id)) Delete(id, version);
        else if (TangoDirectory.IsAddition(update, out var cohort, out var member)) AddMember(cohort, member, version);
        if (!hosted.TryGet(update.Object, version.Position, out var target))
        {
            // R22: the object was let go at a trim and is not loaded yet; the entry is played for another one.
            call?.BecomeUnplayed(
                version.Position, "The record is in the log, but its object is not played here", null);
            return;
        }

        var place = new LogPlace(version.Position, version.Index, 0);
        var rejection = Apply(target, update, version, place, isTransaction: false, call?.Result);
        call?.BecomeApplied(rejection, target.Stopped?.Told);
    }

    /// <summary>The directory's record stands in the cohort's streams too, so that each member is told at the same
    /// place wherever it is played. The first member goes with its cohort, another one alone. R20: the directory
    /// accepts the same records, for a cohort has the members that it names, and both pass over what is deleted
    /// already.</summary>
    private void Delete(ObjectId id, RecordVersion version)
    {
        if (id == ObjectId.Directory || !hosted.TryGet(id, version.Position, out var target)) return;
        var isCohort = target.Cohort.Objects[0] == target;
        foreach (var deleted in isCohort ? target.Cohort.Objects : [target]) deleted.Delete(version);
        if (isCohort && target.Stopped is { IsDeletion: true }) hosted.Deleted?.Invoke(target.Cohort);
        logger.LogInformation("Object {Name} ({Id}) was deleted", target.Name, target.Id);
    }

    /// <summary>R20: as with a deletion, the record stands in the cohort's stream, so that each host begins to play the
    /// member at the same place.</summary>
    private void AddMember(ObjectId id, DirectoryEntry member, RecordVersion version)
    {
        if (id == ObjectId.Directory || !hosted.TryGet(id, version.Position, out var first)) return;
        if (first.Cohort.Objects[0].Id != id || TangoDirectory.IsExpired(member, version.Position)) return;
        if (first.Cohort.Join(member, version) is not { } joined) return;
        hosted.Join(joined, version.Position);
        logger.LogInformation(
            "Group {Group} has a new member {Name} ({Id})", joined.Entry.Group, joined.Name, joined.Id);
    }

    /// <returns>False: not all of the read set is hosted and readable here, and the decision is not known
    /// yet.</returns>
    private bool TryApplyCommit(ref MessagePackReader reader, RecordVersion version, PendingCall? call,
        in EntryProgress progress)
    {
        var flags = (CommitFlags)reader.ReadInt32();
        if ((flags & ~(CommitFlags.NeedsDecision | CommitFlags.Decided)) != 0)
            throw new TangoFormatException($"Commit record {version} has flags {flags}, which are not known here");
        var isDecided = flags.HasFlag(CommitFlags.Decided);
        if (isDecided && flags != CommitFlags.Decided)
            throw new TangoFormatException($"Commit record {version} is decided, and needs a decision");
        var snapshotEnd = RecordFormat.ReadPosition(ref reader);
        var participants = reader;
        var aborted = Validate(ref reader, version, snapshotEnd, out var isEvaluated);
        // To the end, before anything is decided: what this code cannot read it must not decide.
        var writesLiveObject = ReadWrites(reader, version.Position, out var spills);
        if (isDecided)
        {
            if (!spills.IsEmpty)
                throw new TangoFormatException($"Commit record {version} is decided, and has spills");
            ApplyDecided(ref reader, version, isEvaluated ? aborted : null, call);
            return true;
        }

        aborted ??= spills.AbortAt(version, directory.MaxSpan);
        if (probe is not null && probe.TryEnd(version, isEvaluated, aborted)) return true;
        if (aborted is null && IsMissing(spills, version)) return false;
        var spilledWrites = aborted is null ? spilled.Of(version) : [];
        if (flags.HasFlag(CommitFlags.NeedsDecision))
        {
            var (readSet, streams) = CommitFormat.ReadParticipants(participants);
            if (isEvaluated || readSet.Exists(id => hosted.TryGet(id, version.Position, out _)))
                commits.Expect(version, streams);
            if (isEvaluated && probe is null) commits.Decide(version, aborted, progress.IsOwn, progress.Now);
            else if (!isEvaluated && commits.TryGet(version, out aborted)) isEvaluated = true;
            else if (Planted.Is("undecided-is-committed") && !isEvaluated) isEvaluated = true;
            else if (!isEvaluated && writesLiveObject) return false;
        }

        AppliedWrites applied = default;
        if (aborted is null)
        {
            foreach (var written in spilledWrites)
            {
                var spill = new MessagePackReader(written.Writes);
                ApplyWrites(ref spill, version, written.Spill, isEvaluated, ref applied);
            }

            ApplyWrites(ref reader, version, version, isEvaluated, ref applied);
        }
        else reader.SkipValue();

        reader.SkipValue();
        if (isEvaluated && applied.StoppedAt is { } name)
            call?.BecomeUnplayed(
                version.Position, $"It committed, but '{name}' has stopped here and may have refused a write", null);
        else if (isEvaluated)
            call?.BecomeApplied(aborted ?? (TxOutcome)new TxOutcome.Committed(version, applied.Rejected));
        // No record says what it came to, or nothing here waits for the one that does.
        else call?.BecomeUnplayed(version.Position, "What the transaction read cannot be read here any more", null);
        return true;
    }

    /// <summary>R29: the sequencer has decided that it commits, as it granted the position. That is a fact of the log
    /// below it, whatever is hosted here, and whatever versions are known.</summary>
    /// <param name="reader">At the writes.</param>
    /// <param name="found">A conflict by the versions here. None is possible, but of what they have forgotten.</param>
    private void ApplyDecided(
        ref MessagePackReader reader, RecordVersion version, TxOutcome.Aborted? found, PendingCall? call)
    {
        AppliedWrites applied = default;
        if (found is { Reason: AbortReason.Conflict })
        {
            TangoTelemetry.Disagreements.Add(1);
            logger.LogError(
                "Commit record {Commit} was decided by the sequencer, and what it read of {Object} was written at "
                + "{Conflict}; it is applied", version, found.ObjectName, found.ConflictingWrite);
        }

        if (found is not null && Planted.Is("decided-is-judged-again"))
        {
            reader.SkipValue();
            reader.SkipValue();
            call?.BecomeApplied(found);
            return;
        }

        ApplyWrites(ref reader, version, version, isEvaluated: true, ref applied);
        reader.SkipValue();
        if (applied.StoppedAt is { } name)
            call?.BecomeUnplayed(
                version.Position, $"It committed, but '{name}' has stopped here and may have refused a write", null);
        else call?.BecomeApplied(new TxOutcome.Committed(version, applied.Rejected));
    }

    /// <summary>R19: whether writes to objects that are hosted here stand in spills that were not fetched
    /// yet.</summary>
    private bool IsMissing(SpillList spills, RecordVersion version)
    {
        if (spills.IsEmpty || spilled.IsFetched(version)) return false;
        if (Planted.Is("spills-are-not-fetched")) return false;
        foreach (var spill in spills.References)
        {
            if (spill.Objects.Any(id => hosted.TryGet(id, version.Position, out _))) _missing.Add(spill.Version);
        }

        return _missing.Count > 0;
    }

    /// <param name="stands">The record that has the writes: the commit record, or a spill.</param>
    private void ApplyWrites(ref MessagePackReader reader, RecordVersion version, RecordVersion stands,
        bool isEvaluated, ref AppliedWrites applied)
    {
        var writes = reader.ReadCount();
        for (var i = 0; i < writes; i++)
        {
            reader.ReadArrayHeader(CommitFormat.WriteLength);
            var write = CallRecord.Read(ref reader);
            if (!hosted.TryGet(write.Object, version.Position, out var target)) continue;
            if (Planted.Is("a-refusal-ends-its-transaction") && applied.Rejected > 0) continue;
            if (!isEvaluated) StopForUnknownReads(target, version);
            else if (Apply(target, write, version, new LogPlace(stands.Position, stands.Index, i), isTransaction: true,
                null) is not null) applied.Rejected++;
            if (target.Stopped is { IsDeletion: false }) applied.StoppedAt = target.Name;
        }
    }

    /// <summary>Whether an object is written that can be played here. Reads all of it in any case.</summary>
    /// <param name="reader">At the writes. By value: the caller reads them again.</param>
    private bool ReadWrites(MessagePackReader reader, LogPosition position, out SpillList spills)
    {
        var writesLiveObject = false;
        for (var writes = reader.ReadCount(); writes > 0; writes--)
        {
            reader.ReadArrayHeader(CommitFormat.WriteLength);
            var write = CallRecord.Read(ref reader);
            writesLiveObject |= hosted.TryGet(write.Object, position, out var target) && !target.Cohort.IsUnreadable;
        }

        spills = SpillFormat.ReadReferences(ref reader);
        foreach (var id in spills.References.SelectMany(static spill => spill.Objects))
            writesLiveObject |= hosted.TryGet(id, position, out var target) && !target.Cohort.IsUnreadable;
        return writesLiveObject;
    }

    /// <summary>R18. Reads the whole read set in any case: the writes stand behind it.</summary>
    /// <param name="isEvaluated">False: an object of the read set is not hosted here, nor known to be deleted, or not
    /// readable any more, so that the outcome is not known.</param>
    private TxOutcome.Aborted? Validate(ref MessagePackReader reader, RecordVersion version, LogPosition snapshotEnd,
        out bool isEvaluated)
    {
        TxOutcome.Aborted? aborted = null;
        isEvaluated = true;
        for (var reads = reader.ReadCount(); reads > 0; reads--)
        {
            reader.ReadArrayHeader(CommitFormat.ReadLength);
            var id = new ObjectId(reader.ReadUInt64());
            if (!hosted.TryGet(id, version.Position, out var read))
            {
                var below = version.Position;
                if (Planted.Is("deletion-concerns-what-was-before")) below = new(long.MaxValue);
                // R20: the snapshot is below the deletion, for no view at or above it is read. Its hosts let go of it.
                if (directory.IsDeletedBefore(id, below)) aborted ??= AbortOfDeletion(id, version);
                else isEvaluated = false;
            }
            else if (Planted.Is("unreadable-counts-as-unchanged")) isEvaluated &= true;
            else if (read.Cohort.IsUnreadable) (read, isEvaluated) = (null, false);
            if (reader.TryReadNil())
            {
                aborted ??= Conflict(read, hasKey: false, default, snapshotEnd);
                continue;
            }

            for (var keys = reader.ReadCount(); keys > 0; keys--)
            {
                var key = reader.ReadBinary().Span;
                aborted ??= Conflict(read, hasKey: true, key, snapshotEnd);
            }
        }

        return aborted;
    }

    /// <summary>Outcome of a commit record that read an object which was deleted below it.</summary>
    public static TxOutcome.Aborted AbortOfDeletion(ObjectId id, RecordVersion commit) =>
        new(AbortReason.Conflict, id, id.ToString(), ObjectKey.None, commit);

    private static TxOutcome.Aborted? Conflict(HostedObject? read, bool hasKey, ReadOnlySpan<byte> key,
        LogPosition snapshotEnd)
    {
        if (read is null || !read.Versions.TryFindConflict(hasKey, key, snapshotEnd, out var conflict)) return null;
        return new TxOutcome.Aborted(conflict.Reason, read.Id, read.Name, hasKey ? new ObjectKey(key) : ObjectKey.None,
            conflict.Version);
    }

    private TangoRejectedException? Apply(HostedObject target, scoped in CallRecord update, RecordVersion version,
        LogPlace place, bool isTransaction, ApplyResult? result)
    {
        var wasStopped = target.Stopped is not null;
        var rejection = target.Apply(update, version, place, result, directory.VersionAge);
        if (!wasStopped && target.Stopped is not null) ReportStopped(target);
        target.Observer?.OnApplied(
            update, version, place, isTransaction, tookEffect: rejection is null && target.Stopped is null);
        return rejection;
    }

    /// <summary>
    /// R20: the record claims that one group covers its read set, but this runtime hosts only a part. A guess would let
    /// views diverge. If the group is stopped already, nothing is new.
    /// </summary>
    private void StopForUnknownReads(HostedObject target, RecordVersion version)
    {
        var reason = $"Commit record {version} reads objects that are not in the group of '{target.Name}'";
        Stop(target.Cohort, version, new TangoFormatException(reason));
    }

    /// <summary>
    /// R23: an unreadable record may have concerned any hosted object in whose stream it stands. What is no entry of
    /// Tango's stops their views alone: no code decides by it, and none could if those here did not.
    /// </summary>
    private void StopObjectsOf(LogEntry entry, RecordVersion version, Exception reason)
    {
        var isTango = EntryFormat.IsTango(entry.Payload);
        foreach (var header in entry.Streams)
        {
            if (!hosted.TryGet(new ObjectId(header.Stream.Value), entry.Position, out var target)) continue;
            if (isTango) Stop(target.Cohort, version, reason);
            else if (target.Stopped is null)
            {
                target.Stop(version, reason);
                ReportStopped(target);
            }
        }
    }

    private void Stop(Cohort cohort, RecordVersion version, Exception reason)
    {
        if (cohort.IsUnreadable) return;
        var stopping = cohort.Objects.Where(static hosted => hosted.Stopped is null).ToList();
        cohort.Stop(version, reason);
        stopping.ForEach(ReportStopped);
    }

    private void ReportStopped(HostedObject target)
    {
        TangoTelemetry.ObjectsStopped.Add(1);
        logger.LogError(target.Stopped, "Object {Name} ({Id}) stopped", target.Name, target.Id);
    }
}

/// <summary>Result of applying a transaction's writes.</summary>
internal struct AppliedWrites
{
    public int Rejected;

    /// <summary>An object that has stopped: what it did with a write is not known.</summary>
    public string? StoppedAt;
}

/// <summary>How far playback has got within one entry.</summary>
internal struct EntryProgress
{
    public int Next;

    /// <summary>The callers of the entry can be taken once only; playback may block at record 0 already.</summary>
    public bool HasBegun;

    public bool IsOwn;

    /// <summary>Timestamp at which playback began with the entry, or went on with it.</summary>
    public long Now;

    public PendingCall?[]? Calls;
}
