using System.Buffers;
using Craq.Reads;
using Craq.Storage;

namespace Craq.Chains;

internal sealed partial class ChainCore
{
    // The arrival of records of earlier runs: a clock may begin at 0 with this one (C17).
    private const long LongAgo = long.MinValue / 2;

    // At recovery: records that stand in the log before those that they follow, for the cleaner has copied those.
    private readonly SortedDictionary<ObjectVersion, HeldRecord> _strays = [];

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
                var r = new WireReader(record.Body.ToArray());
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
                _store.Remove(Id, new ObjectKey(record.Body), record.Version, record.Place.Address);
                break;
            case StoreRecordKind.Drop:
                CutAbove(record.Version);
                var kept = record.Version;
                foreach (var above in _strays.Keys.Where(held => held > kept).ToArray()) _strays.Remove(above);
                break;
            case StoreRecordKind.Full:
                _standing = ChainStanding.Complete;
                // A node with all records up to the base has their ids too, and those of records above it (C13).
                if (_last < record.Version)
                {
                    Restart(record.Version);
                    ReadFull(record.Body.ToArray());
                }

                LinkStrays();
                CleanUpTo(ObjectVersion.Max(_mark, ObjectVersion.Min(_heard, _last)));
                break;
            case StoreRecordKind.ChainState:
                Restore(record.Body.ToArray());
                break;
        }
    }

    /// <summary>All of the log was read. A tail that has its epoch's first record has committed what it has.</summary>
    /// <exception cref="CorfuException">A full member lacks records (C19).</exception>
    public void EndReplay(ChainEffects effects)
    {
        if (_strays.Count > 0 && IsFull)
            throw new CorfuException($"The log lacks the records of chain {Id} between {_last} and "
                + $"{_strays.First().Key}: this node's data is damaged. Give the node a new folder.");
        // Strays of a learner that has not caught up: it begins again.
        _strays.Clear();
        if (Planted.Is("version-reused")) CutAbove(_mark);
        _durable = _last;
        RaiseMark(effects);
    }

    /// <summary>The chain for the store's cleaner and checkpoints.</summary>
    public ChainSnapshot Snapshot()
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
        return new ChainSnapshot(Id, _mark, output.WrittenSpan.ToArray(), _run.DirtyPlaces);
    }

    /// <summary>Whether a record is dirty.</summary>
    public bool Needs(ObjectVersion version) => version > _mark && version <= _last;

    /// <summary>The cleaner has copied a dirty record.</summary>
    public void Moved(ObjectVersion version, StorePlace place)
    {
        if (version > _mark && _run.Find(version) is { } held) held.Place = place;
    }

    /// <summary>False: there is no room for the mark.</summary>
    public bool TryKeepMark() => _storedMark >= _mark || TryLogMark() is not null;

    // The records before a state may be gone: the state stands for them.
    private void Restore(ReadOnlyMemory<byte> body)
    {
        var r = new WireReader(body);
        var standing = (ChainStanding)r.Byte();
        var mark = new ObjectVersion(r.Int64());
        var cleared = new ObjectVersion(r.Int64());
        var view = r.Bool() ? r.View() : null;
        _cleared = ObjectVersion.Max(_cleared, cleared);
        _store.Clear(Id, _cleared);
        if (_last < mark)
        {
            // Records up to the mark are committed, and their objects are clean: the state does not say them again.
            CleanUpTo(_last);
            while (_strays.Count > 0 && _strays.First() is var (version, stray) && version <= mark)
            {
                Clean(stray);
                _strays.Remove(version);
            }

            Restart(mark);
            ReadWindow(ref r);
        }

        _heard = ObjectVersion.Max(_heard, mark);
        CleanUpTo(ObjectVersion.Min(_heard, _last));
        _storedMark = _mark;
        _standing = standing;
        if (view is not null && view.Config.Epoch > Epoch) _view = view;
        Plan();
        LinkStrays();
        BeginCollecting();
    }

    private void ReplayChain(in StoreRecord stored)
    {
        var bytes = stored.Body.ToArray();
        var record = RecordCodec.Decode(bytes, valuesChecked: false);
        if (record.Version <= _last) Moved(record.Version, stored.Place);
        else
        {
            _strays[record.Version] = new HeldRecord(record, bytes, stored.Place, LongAgo);
            LinkStrays();
        }
    }

    private void LinkStrays()
    {
        while (_strays.Count > 0)
        {
            var next = _strays.First().Value;
            if (next.Version > _last && next.Record.Previous != _last) return;
            _strays.Remove(next.Version);
            if (next.Version <= _last) continue;
            Hold(next);
            _hasBegun |= IsHead && next.Record.Kind == ChainRecordKind.Begin && next.Version.Epoch == Epoch;
        }
    }

    private void ReplayCopy(ReadOnlyMemory<byte> body, StorePlace place)
    {
        var record = RecordCodec.Decode(body, valuesChecked: false);
        for (var i = 0; i < record.Writes.Length; i++)
        {
            if (!record.Writes[i].IsDelete) _store.Set(Id, record.Writes[i].Key, SlotOf(record, i, place));
        }
    }

    private static ObjectSlot SlotOf(ChainRecord record, int write, StorePlace place) => new(record.Version,
        place.Address, place.Length, write, record.Writes[write].Value?.Length ?? 0, record.Writes[write].Flags,
        record.Writes[write].Expiry);

    // Everything up to there is held otherwise than by records.
    private void Restart(ObjectVersion at)
    {
        _run.Restart(at);
        _window.Restart(at);
        _locks.Restart();
        _last = _durable = at;
        _mark = ObjectVersion.Max(_mark, at);
        _heard = ObjectVersion.Max(_heard, _mark);
    }

    private void CutAbove(ObjectVersion version)
    {
        if (version >= _last) return;
        _run.Cut(version);
        _window.Cut(version);
        _locks.Cut(version);
        _last = version;
        _durable = ObjectVersion.Min(_durable, version);
        _heard = ObjectVersion.Min(_heard, version);
    }

    private void ReadFull(ReadOnlyMemory<byte> body)
    {
        var r = new WireReader(body);
        _cleared = ObjectVersion.Max(_cleared, new ObjectVersion(r.Int64()));
        _store.Clear(Id, _cleared);
        ReadWindow(ref r);
    }

    // Writes and locks as of there, oldest first; those above are in the records.
    private void WriteWindow(ArrayBufferWriter<byte> output, ObjectVersion until)
    {
        var w = new WireWriter(output);
        var writes = _window.All().Where(write => write.Version <= until).ToImmutableArray();
        // The state is one record of the log: the oldest ids stay out, and the floor says so.
        var (first, bytes) = (writes.Length, 0L);
        while (first > 0 && (bytes += 36 + writes[first - 1].Result.Length) <= _options.MaxWindowState) first--;
        w.Int64((first > 0 ? writes[first - 1].Version : _window.Floor).Value);
        writes = writes[first..];
        w.Array(writes, static (ref w, write) =>
        {
            w.Guid(write.Id.Writer);
            w.Int64(write.Id.Sequence);
            w.Int64(write.Version.Value);
            w.Bytes(write.Result.Span);
        });
        w.Array([.. _locks.AsOf(until)], static (ref w, held) => w.Bytes(held.Bytes));
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
        foreach (var bytes in r.Array(4 + RecordCodec.FixedSize, static (ref r) => r.Bytes().ToArray(),
            int.MaxValue))
            _locks.Add(HeldLock.Of(RecordCodec.Decode(bytes, valuesChecked: false), bytes));
    }
}
