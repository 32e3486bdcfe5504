using System.Buffers;
using Craq.Storage;

namespace Craq.Chains;

/// <summary>The chain at a learner: committed records above a base, and clean objects as of it (C10, C11). What it
/// holds counts only behind its Full record.</summary>
internal sealed partial class ChainCore
{
    // Keys with a version above the base: objects as of the base come too late for them. Null: nothing is learned.
    private HashSet<ObjectKey>? _learned;

    /// <summary>A learner's base: it follows the records above, and takes objects as of it.</summary>
    public ObjectVersion Base { get; private set; }

    /// <summary>Why this member is no source for a learner of that epoch; null: it is (C10).</summary>
    public Status? RefusesLearner(Epoch epoch) => RefusesMember(epoch);

    /// <summary>Begins to learn, at or behind what is here. The caller has made sure, by a linearizable read of the
    /// directory, that the node is no full member: what is above the mark never counts again (C10).</summary>
    /// <param name="source">The source's mark, above which records follow.</param>
    /// <returns>False: the node is full, or the disk has no room.</returns>
    public bool TryLearn(ObjectVersion source, ChainEffects effects)
    {
        // A source behind this node may have objects that were deleted here, and no trace of the deletion (C11).
        if (IsFull || _fault is not null || source < _mark) return false;
        // The Drop, and a state that has no more ids than this one.
        if (_store.Admit(Snapshot().State.Length + 256, StoreUse.Vital) != Status.Ok) return false;
        if (_last > _mark && !Planted.Is("dirty-data-rejoins"))
        {
            var place = _store.Append(StoreRecordKind.Drop, Id, _mark, []);
            effects.Appended.Add((place.Lsn, Id));
            CutAbove(_mark);
        }

        _undurable.Clear();
        _standing = ChainStanding.Learning;
        _learned = [];
        Base = source;
        if (source > _last) Restart(source);
        // A restart finds the base where the records above it begin, so that it ends with what was here.
        var state = _store.Append(StoreRecordKind.ChainState, Id, _mark, Snapshot().State.Span);
        effects.Appended.Add((state.Lsn, Id));
        return true;
    }

    /// <summary>Committed records of the source, behind the newest one here. They become clean once they are
    /// durable.</summary>
    public Status Follow(FetchResponse response, ChainEffects effects)
    {
        if (_standing is not (ChainStanding.Learning or ChainStanding.Complete)) return CraqStatus.WrongRole;
        // A source answers with whole records.
        var status = Take(response.Records, effects) ?? Status.BadRequest;
        _heard = ObjectVersion.Max(_heard, ObjectVersion.Min(response.Mark, _last));
        RaiseMark(effects);
        return status;
    }

    /// <summary>An object of the source as of the base: a record of one write. Never over a newer version, nor over its
    /// deletion (C11).</summary>
    public Status Put(ReadOnlyMemory<byte> copy, ChainEffects effects)
    {
        if (_learned is null) return CraqStatus.WrongRole;
        var record = RecordCodec.Decode(copy);
        if (record.Writes is not [{ IsDelete: false } write] || record.Chain != Id) return Status.BadRequest;
        var isOld = _learned.Contains(write.Key) || record.Version <= _cleared;
        if (isOld && !Planted.Is("copy-over-newer")) return Status.Ok;
        var admitted = _store.Admit(copy.Length, StoreUse.Writes);
        if (admitted != Status.Ok) return admitted;
        var place = _store.Append(StoreRecordKind.Copy, Id, record.Version, copy.Span);
        effects.Appended.Add((place.Lsn, Id));
        _store.Set(Id, write.Key, SlotOf(record, 0, place));
        return Status.Ok;
    }

    /// <summary>The source has no object of that key as of the base.</summary>
    public Status Drop(ObjectKey key, ChainEffects effects)
    {
        if (_learned is null) return CraqStatus.WrongRole;
        if (_learned.Contains(key) || Planted.Is("deleted-lives-again")) return Status.Ok;
        var admitted = _store.Admit(key.Bytes.Length, StoreUse.Deletes);
        if (admitted != Status.Ok) return admitted;
        var place = _store.Append(StoreRecordKind.Remove, Id, Base, key.Bytes.Span);
        effects.Appended.Add((place.Lsn, Id));
        _store.Remove(Id, key, Base, place.Address);
        return Status.Ok;
    }

    /// <summary>The clean state as of the mark is here. The record must be durable before the node asks for its
    /// promotion (C11).</summary>
    /// <returns>The position that the store must be durable up to; null: the disk has no room.</returns>
    public long? Complete(ChainEffects effects)
    {
        if (_standing != ChainStanding.Learning) return null;
        // Below the mark objects are missing that were overwritten above the base: no restart may go back to there.
        if (!TryKeepMark()) return null;
        var output = new ArrayBufferWriter<byte>(64);
        var w = new WireWriter(output);
        w.Int64(_cleared.Value);
        w.Flush();
        // Which requests wrote what was copied is unknown here: the window begins at the base (C13).
        WriteWindow(output, ObjectVersion.None);
        if (_store.Admit(output.WrittenCount, StoreUse.Vital) != Status.Ok) return null;
        var place = _store.Append(StoreRecordKind.Full, Id, Base, output.WrittenSpan);
        effects.Appended.Add((place.Lsn, Id));
        _standing = ChainStanding.Complete;
        _learned = null;
        return place.Lsn;
    }

    // A Lock's writes are a promise: without the Write that settles it, the object as of the base counts (C11).
    private void Learned(HeldRecord held)
    {
        if (_learned is null || held.Record.Kind != ChainRecordKind.Write) return;
        foreach (var write in held.Record.Writes) _learned.Add(write.Key.ToOwned());
    }
}
