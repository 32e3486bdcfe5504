using System.Buffers;
using Corfu.Protocol;
using Craq;
using Craq.Protocol;
using Craq.Storage;
using Xunit;

namespace Corfu.Conformance;

/// <summary>A chain over a node's store, as the node's core uses it, and what its objects must be.</summary>
internal sealed class TestChain(ChainId id, NodeStore store)
{
    private readonly SortedList<ObjectVersion, (ChainRecord Record, StorePlace Place)> _dirty = [];
    private readonly SortedList<ObjectVersion, ChainRecord> _history = [];
    private ObjectVersion _loggedMark;
    private ObjectVersion _cleared;

    public ChainId Id => id;

    public ObjectVersion Last { get; private set; }

    public ObjectVersion Mark { get; private set; }

    public IReadOnlyList<StorePlace> Dirty => [.. _dirty.Values.Select(d => d.Place)];

    /// <summary>The dirty versions that are durable up to there.</summary>
    public IReadOnlyList<ObjectVersion> DurableVersions(long until) =>
        [.. _dirty.TakeWhile(d => d.Value.Place.Lsn <= until).Select(d => d.Key)];

    public ObjectVersion Append(ObjectVersion version, ChainRecordKind kind, params ObjectWrite[] writes)
    {
        var record = new ChainRecord(id, kind, version, Last, [], [.. writes]);
        var place = store.Append(StoreRecordKind.Chain, id, version, RecordCodec.Encode(record));
        _history.Add(version, record);
        _dirty.Add(version, (record, place));
        Last = version;
        return version;
    }

    public bool Needs(ObjectVersion version) => _dirty.ContainsKey(version);

    public void Moved(ObjectVersion version, StorePlace place)
    {
        if (_dirty.TryGetValue(version, out var held)) _dirty[version] = held with { Place = place };
    }

    public bool TryLogMark()
    {
        if (_loggedMark >= Mark) return true;
        if (store.Admit(0, StoreUse.Vital) != Status.Ok) return false;
        store.Append(StoreRecordKind.Mark, id, Mark, default);
        _loggedMark = Mark;
        return true;
    }

    public ChainSnapshot Snapshot()
    {
        var output = new ArrayBufferWriter<byte>();
        var w = new WireWriter(output);
        w.Int64(Mark.Value);
        w.Int64(_cleared.Value);
        w.Flush();
        return new ChainSnapshot(id, Mark, output.WrittenMemory, Dirty);
    }

    public void Replay(in StoreRecord stored)
    {
        switch (stored.Kind)
        {
            case StoreRecordKind.Chain:
                var record = RecordCodec.Decode(stored.Body.ToArray(), valuesChecked: false);
                Assert.Equal(stored.Version, record.Version);
                Last = ObjectVersion.Max(Last, record.Version);
                if (record.Version > Mark) _dirty[record.Version] = (record, stored.Place);
                break;
            case StoreRecordKind.Mark:
                Advance(stored.Version);
                break;
            case StoreRecordKind.Copy:
                var copied = RecordCodec.Decode(stored.Body.ToArray(), valuesChecked: false);
                for (var i = 0; i < copied.Writes.Length; i++)
                    store.Set(id, copied.Writes[i].Key, SlotOf(copied, i, stored.Place));
                break;
            case StoreRecordKind.Remove:
                store.Remove(id, new ObjectKey(stored.Body), stored.Version, stored.Place.Address);
                break;
            case StoreRecordKind.ChainState:
                var r = new WireReader(stored.Body);
                var mark = new ObjectVersion(r.Int64());
                _cleared = ObjectVersion.Max(_cleared, new ObjectVersion(r.Int64()));
                store.Clear(id, _cleared);
                Advance(mark);
                break;
            default:
                Assert.Fail($"A {stored.Kind} record was never appended.");
                break;
        }

        _loggedMark = Mark;
    }

    /// <summary>All records up to the mark are clean.</summary>
    public void Advance(ObjectVersion mark)
    {
        if (mark <= Mark) return;
        Mark = mark;
        Last = ObjectVersion.Max(Last, mark);
        while (_dirty.Count > 0 && _dirty.Keys[0] <= mark)
        {
            var (record, place) = _dirty.Values[0];
            _dirty.RemoveAt(0);
            Clean(record, place);
        }
    }

    /// <summary>Takes over what the chain has appended in earlier runs and what of it is still there.</summary>
    public void TakeHistory(TestChain before)
    {
        foreach (var (version, record) in before._history.Where(h => h.Key <= Last)) _history.Add(version, record);
        Assert.True(_history.Count == 0 ? Last.IsNone : _history.Keys[^1] == Last);
    }

    /// <summary>The objects are those that the history up to the mark gives, no more and no fewer.</summary>
    public async Task CheckAsync(TestNode node)
    {
        var expected = Expected();
        foreach (var key in _history.Values.SelectMany(r => r.Writes).Select(w => w.Key).Distinct())
        {
            var (slot, value) = await ReadAsync(node, key);
            if (!expected.TryGetValue(key, out var want))
            {
                Assert.True(slot is null, $"{key} is absent at {Mark}, and was found at {slot?.Version}.");
                continue;
            }

            Assert.True(slot is not null, $"{key} of {want.Version} is missing at {Mark}.");
            Assert.Equal((want.Version, want.Write.Flags, want.Write.Expiry, want.Write.Value!.Value.Length),
                (slot.Value.Version, slot.Value.Flags, slot.Value.Expiry, slot.Value.Length));
            Assert.True(value is not null, $"{key} of {want.Version} cannot be read.");
            Assert.Equal(want.Write.Value.Value.ToArray(), value.Value.ToArray());
        }

        var listed = await store.ListAsync(id, default).ToListAsync();
        Assert.Equal(expected.Select(e => (ObjectHash.Of(id, e.Key), e.Value.Version)).Order(),
            listed.Select(l => (l.Hash, l.Slot.Version)));
    }

    private async Task<(ObjectSlot? Slot, ReadOnlyMemory<byte>? Value)> ReadAsync(TestNode node, ObjectKey key)
    {
        ObjectSlot? before = null;
        while (true)
        {
            ObjectSlot? slot = null;
            while (!node.Locked(() => store.TryFind(id, key, out slot))) await store.LoadAsync(id, key);
            // Damaged, or cleaned away meanwhile: then it stands elsewhere.
            if (slot is not { } found || slot == before) return (slot, null);
            if (await store.ReadAsync(found, key) is { } value) return (slot, value);
            before = slot;
        }
    }

    private Dictionary<ObjectKey, (ObjectVersion Version, ObjectWrite Write)> Expected()
    {
        var expected = new Dictionary<ObjectKey, (ObjectVersion Version, ObjectWrite Write)>();
        foreach (var (version, record) in _history.TakeWhile(h => h.Key <= Mark))
        {
            if (record.Kind == ChainRecordKind.Clear) expected.Clear();
            foreach (var write in record.Writes)
            {
                if (write.IsDelete) expected.Remove(write.Key);
                else expected[write.Key] = (version, write);
            }
        }

        return expected;
    }

    private void Clean(ChainRecord record, StorePlace place)
    {
        if (record.Kind == ChainRecordKind.Clear)
        {
            _cleared = record.Version;
            store.Clear(id, record.Version);
        }

        for (var i = 0; i < record.Writes.Length; i++)
        {
            var key = record.Writes[i].Key;
            if (record.Writes[i].IsDelete) store.Remove(id, key, record.Version, place.Address);
            else store.Set(id, key, SlotOf(record, i, place));
        }
    }

    private static ObjectSlot SlotOf(ChainRecord record, int write, StorePlace place) => new(record.Version,
        place.Address, place.Length, write, record.Writes[write].Value?.Length ?? 0, record.Writes[write].Flags,
        record.Writes[write].Expiry);
}
