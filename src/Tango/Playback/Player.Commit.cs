using Corfu.Protocol;
using Tango.Calls;
using Tango.Formatting;
using Tango.Records;

namespace Tango.Playback;

// Decides commit records (Tango 3.2) exactly at their positions, from versions alone, so that every runtime decides alike.
internal sealed partial class Player
{
    /// <returns>False: not all of the read set is hosted here, and the decision is not known yet.</returns>
    private bool TryApplyCommit(ref MessagePackReader reader, RecordVersion version, PendingCall? call, bool isOwn)
    {
        var flags = (CommitFlags)reader.ReadInt32();
        if ((flags & ~CommitFlags.NeedsDecision) != 0)
            throw new TangoFormatException($"Commit record {version} has flags {flags}, which are not known here");
        var snapshotEnd = RecordFormat.ReadPosition(ref reader);
        var participants = reader;
        var aborted = Validate(ref reader, version.Position, snapshotEnd, out var isEvaluated);
        if (flags.HasFlag(CommitFlags.NeedsDecision))
        {
            if (isEvaluated) DecideHere(version, aborted, CommitFormat.ReadParticipants(participants).Streams, isOwn);
            else if (TryGetDecision(version, out aborted)) isEvaluated = true;
#if PLANTED
            else if (Planted.Is("undecided-is-committed")) isEvaluated = true;
#endif
            else if (AnyWriteConcernsUs(reader, version.Position)) return false;
        }

        var rejected = 0;
        for (var writes = reader.ReadArrayHeader(); writes > 0; writes--)
        {
            reader.ReadArrayHeader(CommitFormat.WriteLength);
            var write = CallRecord.Read(ref reader);
            if (aborted is not null) continue;
            if (!_objects.TryGetValue(write.Object, out var hosted) || !Wants(hosted.Unit, version.Position)) continue;
#if PLANTED
            if (rejected > 0 && Planted.Is("a-refusal-ends-its-transaction")) continue;
#endif
            if (!isEvaluated) StopForUnknownReads(hosted, version);
            else if (Apply(hosted, write, version, null) is not null) rejected++;
        }

        // R19: positions of spilled writes; none are written yet, so a list with members is from newer code.
        reader.ReadArrayHeader(0);
        call?.OnDecided(aborted ?? (TxOutcome)new TxOutcome.Committed(version, rejected));
        return true;
    }

    /// <param name="reader">Stands at the writes; taken by value, so that the caller's stays there.</param>
    private bool AnyWriteConcernsUs(MessagePackReader reader, LogPosition position)
    {
        for (var writes = reader.ReadArrayHeader(); writes > 0; writes--)
        {
            reader.ReadArrayHeader(CommitFormat.WriteLength);
            var write = CallRecord.Read(ref reader);
            if (_objects.TryGetValue(write.Object, out var hosted) && Wants(hosted.Unit, position)) return true;
        }

        return false;
    }

    /// <summary>R18. Reads all of the read set in any case, to get past it.</summary>
    /// <param name="isEvaluated">False: some object of the read set is not hosted here, so that the outcome is not known.</param>
    private TxOutcome.Aborted? Validate(ref MessagePackReader reader, LogPosition position, LogPosition snapshotEnd, out bool isEvaluated)
    {
        TxOutcome.Aborted? aborted = null;
        isEvaluated = true;
        for (var reads = reader.ReadArrayHeader(); reads > 0; reads--)
        {
            reader.ReadArrayHeader(CommitFormat.ReadLength);
            var id = new ObjectId(reader.ReadUInt64());
            var hosted = _objects.TryGetValue(id, out var found) && Wants(found.Unit, position) ? found : null;
            if (hosted is null) isEvaluated = false;
            if (reader.TryReadNil())
            {
                aborted ??= Conflict(hosted, hasKey: false, default, snapshotEnd);
                continue;
            }

            for (var keys = reader.ReadArrayHeader(); keys > 0; keys--)
            {
                var key = reader.ReadBinary();
                aborted ??= Conflict(hosted, hasKey: true, key, snapshotEnd);
            }
        }

        return aborted;
    }

    /// <summary>The record claims that one group covers it (R20), but this runtime hosts a part only: guessing would let views diverge.</summary>
    private void StopForUnknownReads(HostedObject hosted, RecordVersion version)
    {
        if (hosted.Stopped is not null) return;
        hosted.Stop(version, new TangoFormatException($"Commit record {version} reads objects that are not in the group of '{hosted.Name}'"));
        ReportStopped(hosted);
    }

    private static TxOutcome.Aborted? Conflict(HostedObject? hosted, bool hasKey, ReadOnlySpan<byte> key, LogPosition snapshotEnd)
    {
        if (hosted is null || !hosted.Versions.TryFindConflict(hasKey, key, snapshotEnd, out var conflict)) return null;
        return new TxOutcome.Aborted(conflict.Reason, hosted.Id, hosted.Name, hasKey ? new ObjectKey(key) : ObjectKey.None, conflict.Version);
    }
}
