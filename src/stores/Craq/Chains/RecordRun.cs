using System.Runtime.InteropServices;
using Craq.Storage;

namespace Craq.Chains;

/// <summary>A record of a chain with its bytes in memory.</summary>
/// <param name="arrived">The stamp of its arrival, for bounded reads.</param>
internal sealed class HeldRecord(ChainRecord record, byte[] bytes, StorePlace place, long arrived)
{
    public ChainRecord Record => record;

    public byte[] Bytes => bytes;

    /// <summary>The store's cleaner may move it.</summary>
    public StorePlace Place { get; set; } = place;

    public long Arrived => arrived;

    /// <summary>The values went along the tree: the next member has or gets them without its predecessor.</summary>
    public bool IsRelayed { get; init; }

    public ObjectVersion Version => record.Version;
}

/// <summary>An object in a record that is not known to be committed, and the next newer one of the same key.</summary>
internal sealed class DirtyWrite(HeldRecord record, int index)
{
    public HeldRecord Record => record;

    public int Index => index;

    public ref readonly ObjectWrite Write => ref record.Record.Writes.ItemRef(index);

    public ObjectVersion Version => record.Version;

    public DirtyWrite? Newer { get; set; }
}

/// <summary>The end of a chain's log in memory, without a gap: some committed records, then the dirty list. Under the
/// node's lock.</summary>
/// <remarks>Invariants: each record's <c>Previous</c> is the version before it (C2). The keys' index has exactly the
/// writes of the dirty records.</remarks>
internal sealed class RecordRun(NodeBudget budget) : IHotRecords
{
    private readonly Dictionary<ObjectKey, (DirtyWrite Oldest, DirtyWrite Newest)> _keys = [];
    private readonly List<ObjectVersion> _clears = [];
    private readonly List<HeldRecord> _records = [];

    // Records below _first were forgotten; records below _dirty are committed. 0 <= _first <= _dirty <= count.
    private int _first;
    private int _dirty;

    /// <summary>Records behind this one are in memory.</summary>
    public ObjectVersion Floor { get; private set; }

    public int DirtyCount => _records.Count - _dirty;

    public HeldRecord? OldestDirty => _dirty < _records.Count ? _records[_dirty] : null;

    /// <summary>The places of the dirty records, oldest first.</summary>
    public IReadOnlyList<StorePlace> DirtyPlaces => [.. _records.Skip(_dirty).Select(record => record.Place)];

    /// <summary>Dirty clears, oldest first.</summary>
    public IReadOnlyList<ObjectVersion> Clears => _clears;

    /// <summary>An empty run that goes on behind that record.</summary>
    public void Restart(ObjectVersion floor)
    {
        Cut(ObjectVersion.None);
        _records.Clear();
        (_first, _dirty, Floor) = (0, 0, floor);
    }

    public void Add(HeldRecord record)
    {
        _records.Add(record);
        budget.AddDirty(record.Bytes.Length);
        if (record.Record.Kind == ChainRecordKind.Clear) _clears.Add(record.Version);
        if (!IsShown(record)) return;
        for (var i = 0; i < record.Record.Writes.Length; i++)
        {
            var write = new DirtyWrite(record, i);
            ref var versions = ref CollectionsMarshal.GetValueRefOrAddDefault(_keys, write.Write.Key, out var known);
            if (known) versions.Newest.Newer = write;
            versions = (known ? versions.Oldest : write, write);
        }
    }

    /// <summary>The oldest dirty record has become committed.</summary>
    public HeldRecord Commit()
    {
        var record = _records[_dirty++];
        budget.RemoveDirty(record.Bytes.Length);
        if (record.Record.Kind == ChainRecordKind.Clear) _clears.RemoveAt(0);
        if (IsShown(record))
        {
            foreach (var write in record.Record.Writes)
            {
                ref var versions = ref CollectionsMarshal.GetValueRefOrNullRef(_keys, write.Key);
                if (versions.Oldest.Newer is { } newer) versions.Oldest = newer;
                else _keys.Remove(write.Key);
            }
        }

        budget.AddHot(this, record.Version, record.Bytes.Length);
        return record;
    }

    /// <summary>A committed record leaves the memory.</summary>
    public void Forget(ObjectVersion version)
    {
        // The run has been restarted or shortened since, or the record has left already.
        if (_first >= _dirty || _records[_first].Version != version) return;
        Floor = version;
        _records[_first++] = null!;
        if (_first < 64 || _first * 2 < _records.Count) return;
        _records.RemoveRange(0, _first);
        _dirty -= _first;
        _first = 0;
    }

    /// <summary>Removes the dirty records above that one, newest first (C10).</summary>
    public void Cut(ObjectVersion above)
    {
        var end = Math.Max(_dirty, IndexBehind(above));
        if (end == _records.Count) return;
        var kept = _records.GetRange(_dirty, end - _dirty);
        foreach (var record in _records.Skip(_dirty)) budget.RemoveDirty(record.Bytes.Length);
        _records.RemoveRange(_dirty, _records.Count - _dirty);
        _keys.Clear();
        _clears.Clear();
        foreach (var record in kept) Add(record);
    }

    /// <summary>Records behind that one, oldest first; the caller has compared with <see cref="Floor"/>.</summary>
    public ReadOnlySpan<HeldRecord> Behind(ObjectVersion version) =>
        CollectionsMarshal.AsSpan(_records)[IndexBehind(version)..];

    /// <summary>The record of that version, if it is in memory.</summary>
    public HeldRecord? Find(ObjectVersion version)
    {
        var index = IndexBehind(version) - 1;
        return index >= _first && _records[index].Version == version ? _records[index] : null;
    }

    /// <summary>The oldest dirty version of a key.</summary>
    public DirtyWrite? Oldest(ObjectKey key) => _keys.TryGetValue(key, out var versions) ? versions.Oldest : null;

    /// <summary>The newest dirty version of a key.</summary>
    public DirtyWrite? Newest(ObjectKey key) => _keys.TryGetValue(key, out var versions) ? versions.Newest : null;

    // A Lock's writes are a promise; they are shown by the Write that settles it.
    private static bool IsShown(HeldRecord record) => record.Record.Kind == ChainRecordKind.Write;

    // The index of the first record above the version.
    private int IndexBehind(ObjectVersion version)
    {
        var (low, high) = (_first, _records.Count);
        while (low < high)
        {
            var middle = (low + high) / 2;
            if (_records[middle].Version <= version) low = middle + 1;
            else high = middle;
        }

        return low;
    }
}
