using System.Buffers;
using Craq.Reads;
using Craq.Storage;

namespace Craq.Chains;

internal sealed partial class ChainCore
{
    /// <summary>Takes a record of the store's log at recovery, in order. What a node restarts with is what it had
    /// made durable; marks that it had not are asked for.</summary>
    public void Replay(in StoreRecord record)
    {
        switch (record.Kind)
        {
            case StoreRecordKind.Chain:
                ReplayChain(record);
                break;
            case StoreRecordKind.Install:
                var r = new WireReader(record.Body);
                Serve(r.View());
                break;
            case StoreRecordKind.Mark:
                _heard = ObjectVersion.Max(_heard, record.Version);
                CleanUpTo(ObjectVersion.Min(_heard, _last));
                _storedMark = _mark;
                break;
            case StoreRecordKind.Copy:
                ReplayCopy(record.Body, record.Place);
                break;
            case StoreRecordKind.Remove:
                _store.Remove(Id, new ObjectKey(record.Body.ToArray()));
                break;
            case StoreRecordKind.Drop:
                CutAbove(record.Version);
                break;
            case StoreRecordKind.Full:
                _standing = ChainStanding.Complete;
                ReadFull(record.Body);
                break;
            case StoreRecordKind.ChainState:
                Restore(record.Body);
                break;
        }
    }

    /// <summary>All of the log was read. A tail that has its epoch's first record has committed what it has.</summary>
    public void EndReplay(ChainEffects effects)
    {
        _durable = _last;
        RaiseMark(effects);
    }

    /// <summary>The state of the chain besides its objects and its dirty records, so that earlier segments may
    /// go.</summary>
    public byte[] State()
    {
        var output = new ArrayBufferWriter<byte>(256);
        var w = new WireWriter(output);
        w.Byte((byte)_standing);
        w.Int64(_mark.Value);
        w.Int64(_cleared.Value);
        w.Bool(_view is not null);
        if (_view is not null) w.View(_view);
        w.Flush();
        WriteWindow(output, _mark);
        return output.WrittenSpan.ToArray();
    }

    private void Restore(ReadOnlyMemory<byte> body)
    {
        var r = new WireReader(body);
        var standing = (ChainStanding)r.Byte();
        var mark = new ObjectVersion(r.Int64());
        _cleared = new ObjectVersion(r.Int64());
        var view = r.Bool() ? r.View() : null;
        // A state in the middle of a log that has been read so far says nothing new.
        if (_mark >= mark && _last >= mark && _view is not null) return;
        _standing = standing;
        Restart(mark);
        ReadWindow(ref r);
        if (view is null || view.Config.Epoch <= Epoch) return;
        _view = view;
        _round = IsFull ? RoundPlan.For(view.Config, _self) : default;
        _hasBegun = IsHead && _last >= ObjectVersion.First(Epoch);
    }

    private void ReplayChain(in StoreRecord stored)
    {
        var bytes = stored.Body.ToArray();
        var record = RecordCodec.Decode(bytes, valuesChecked: false);
        // Copies of records that are known already, by the cleaner.
        if (record.Version <= _last) return;
        if (record.Previous != _last)
        {
            if (_standing is ChainStanding.Full)
                throw new CorfuException($"The log lacks the records of chain {Id} between {_last} and "
                    + $"{record.Version}: this node's data is damaged. Give the node a new folder.");
            // A learner goes on behind another base.
            Restart(record.Previous);
        }

        Hold(record, bytes, stored.Place, 0);
        _hasBegun |= IsHead && record.Kind == ChainRecordKind.Begin && record.Version.Epoch == Epoch;
        // A learner holds committed records only (C10).
        if (_standing == ChainStanding.Learning) CleanUpTo(_last);
    }

    private void ReplayCopy(ReadOnlyMemory<byte> body, StorePlace place)
    {
        var write = RecordCodec.Decode(body, valuesChecked: false);
        if (!_store.TryFind(Id, write.Writes[0].Key, out var slot) || slot is null || slot.Value.Version < write.Version)
            _store.Set(Id, write.Writes[0].Key, SlotOf(write, place));
    }

    private static ObjectSlot SlotOf(ChainRecord record, StorePlace place) => new(record.Version, place.Address,
        place.Length, 0, record.Writes[0].Value?.Length ?? 0, record.Writes[0].Flags, record.Writes[0].Expiry);

    // Everything up to there is held otherwise than by records.
    private void Restart(ObjectVersion at)
    {
        _run.Restart(at);
        _window.Restart(at);
        _last = _durable = at;
        _mark = ObjectVersion.Max(_mark, at);
        _heard = ObjectVersion.Max(_heard, _mark);
    }

    private void CutAbove(ObjectVersion version)
    {
        if (version >= _last) return;
        _run.Cut(version);
        _window.Cut(version);
        _last = version;
        _durable = ObjectVersion.Min(_durable, version);
        _heard = ObjectVersion.Min(_heard, version);
    }

    private void ReadFull(ReadOnlyMemory<byte> body)
    {
        var r = new WireReader(body);
        _cleared = new ObjectVersion(r.Int64());
        ReadWindow(ref r);
    }

    // Writes up to there, oldest first; those above are in the records.
    private void WriteWindow(ArrayBufferWriter<byte> output, ObjectVersion until)
    {
        var w = new WireWriter(output);
        w.Int64(_window.Floor.Value);
        var writes = _window.All().Where(write => write.Version <= until).ToImmutableArray();
        w.Array(writes, static (ref w, write) =>
        {
            w.Guid(write.Id.Writer);
            w.Int64(write.Id.Sequence);
            w.Int64(write.Version.Value);
            w.Bytes(write.Result.Span);
        });
        w.Flush();
    }

    private void ReadWindow(ref WireReader r)
    {
        _window.Restart(ObjectVersion.None);
        var floor = new ObjectVersion(r.Int64());
        var writes = r.Array(36, static (ref r) =>
            (Id: new WriteId(r.Guid(), r.Int64()), Version: new ObjectVersion(r.Int64()), Result: r.Bytes()),
            int.MaxValue);
        _window.Lower(floor);
        foreach (var write in writes) _window.Add(write.Id, write.Version, write.Result);
    }
}
