using Craq.Storage;

namespace Craq.Tests.Chains;

/// <summary>A node's disk in memory. What was appended becomes durable some time after the commit; a crash keeps what
/// is durable.</summary>
internal sealed class MemoryStore(TimeProvider time, IEnumerable<StoreRecord>? log = null) : INodeStore
{
    private readonly List<StoreRecord> _log = [.. log ?? []];
    private readonly Dictionary<(ChainId, ObjectKey), ObjectSlot> _slots = [];
    private bool _isSyncing;
    private bool _isEnded;

    public INodeStoreObserver? Observer { get; set; }

    public long DurableUntil { get; private set; } = log?.Count() ?? 0;

    /// <summary>While it is set nothing becomes durable.</summary>
    public bool IsHeld { get; set; }

    /// <summary>Slots come into memory by <see cref="LoadAsync"/> first.</summary>
    public bool IsCold { get; set; }

    private readonly HashSet<ObjectKey> _loaded = [];

    public Status Admission { get; set; }

    /// <summary>No record has room, however vital.</summary>
    public bool IsFull { get; set; }

    /// <summary>Reads of a key's value that come too late: the value has been cleaned away.</summary>
    public Func<ObjectKey, Task<bool>>? Loses { get; set; }

    public int Syncs { get; private set; }

    public IReadOnlyList<StoreRecord> Log => _log;

    /// <summary>The disk as the next start of the node finds it.</summary>
    public MemoryStore Crash()
    {
        _isEnded = true;
        return new MemoryStore(time, _log.Take((int)DurableUntil));
    }

    /// <summary>Another disk with these records, in this order.</summary>
    public MemoryStore With(IEnumerable<StoreRecord> records) => new(time, records.Select((record, index) =>
        record with { Place = new StorePlace(index, record.Body.Length, index + 1) }).ToArray());

    public ValueTask<bool> RecoverAsync(Action<StoreRecord> visit)
    {
        foreach (var record in _log) visit(record);
        return new(_log.Count > 0);
    }

    public ValueTask AttachAsync(INodeChains? chains) => ValueTask.CompletedTask;

    public Status Admit(int bytes, StoreUse use) => IsFull ? Status.NoSpace
        : use == StoreUse.Writes ? Admission : Status.Ok;

    public StorePlace Append(StoreRecordKind kind, ChainId chain, ObjectVersion version, ReadOnlySpan<byte> body)
    {
        var place = new StorePlace(_log.Count, body.Length, _log.Count + 1);
        _log.Add(new StoreRecord(kind, chain, version, body.ToArray(), place));
        return place;
    }

    public void Commit()
    {
        if (!_isSyncing) _ = SyncAsync();
    }

    /// <summary>Other bytes under the same version, with checks that fit.</summary>
    public void Alter(ChainId chain, ObjectKey key, ReadOnlyMemory<byte> value)
    {
        var slot = _slots[(chain, key)];
        var stored = _log[(int)slot.Address];
        var record = RecordCodec.Decode(stored.Body);
        var write = record.Writes[slot.Write] with { Value = value };
        var altered = record with { Writes = record.Writes.SetItem(slot.Write, write) };
        _log[(int)slot.Address] = stored with { Body = RecordCodec.Encode(altered) };
    }

    public void GoOn()
    {
        IsHeld = false;
        Commit();
    }

    public bool TryFind(ChainId chain, ObjectKey key, out ObjectSlot? slot)
    {
        slot = null;
        if (IsCold && !_loaded.Remove(key)) return false;
        if (_slots.TryGetValue((chain, key), out var found)) slot = found;
        return true;
    }

    public async ValueTask LoadAsync(ChainId chain, ObjectKey key)
    {
        await Task.Yield();
        _loaded.Add(key.ToOwned());
    }

    public void Set(ChainId chain, ObjectKey key, in ObjectSlot slot)
    {
        if (!_slots.TryGetValue((chain, key), out var before) || before.Version <= slot.Version)
            _slots[(chain, key.ToOwned())] = slot;
    }

    public void Remove(ChainId chain, ObjectKey key, ObjectVersion version, long address) =>
        _slots.Remove((chain, key));

    public void Clear(ChainId chain, ObjectVersion below)
    {
        foreach (var (key, slot) in _slots.ToArray())
        {
            if (key.Item1 == chain && slot.Version < below) _slots.Remove(key);
        }
    }

    public void Forget(ChainId chain) => Clear(chain, new ObjectVersion(long.MaxValue));

    public async ValueTask<ReadOnlyMemory<byte>?> ReadAsync(ObjectSlot slot, ObjectKey key)
    {
        await Task.Yield();
        if (Loses is { } loses && await loses(key)) return null;
        var write = RecordCodec.Decode(_log[(int)slot.Address].Body).Writes[slot.Write];
        return write.Key == key ? write.Value : throw new CorfuException("The slot is another key's.");
    }

    public async IAsyncEnumerable<(ObjectHash Hash, ObjectSlot Slot)> ListAsync(ChainId chain, ObjectHash from)
    {
        await Task.Yield();
        foreach (var (hash, slot) in _slots.Where(slot => slot.Key.Item1 == chain)
            .Select(slot => (Hash: ObjectHash.Of(chain, slot.Key.Item2), slot.Value)).OrderBy(item => item.Hash))
        {
            if (hash.CompareTo(from) >= 0) yield return (hash, slot);
        }
    }

    public ValueTask<IReadOnlyList<(ChainId Chain, ObjectSlot Slot)>> FindExpiredAsync(long wall, int most) => new(
    [
        .. _slots.Where(slot => slot.Value.Expiry > 0 && slot.Value.Expiry <= wall).Take(most)
            .Select(slot => (slot.Key.Item1, slot.Value)),
    ]);

    public ValueTask<ObjectKey?> ReadKeyAsync(ObjectSlot slot) =>
        new(RecordCodec.Decode(_log[(int)slot.Address].Body).Writes[slot.Write].Key);

    public ValueTask DisposeAsync()
    {
        _isEnded = true;
        return ValueTask.CompletedTask;
    }

    private async Task SyncAsync()
    {
        _isSyncing = true;
        while (!_isEnded && !IsHeld && DurableUntil < _log.Count)
        {
            var until = _log.Count;
            await Task.Delay(TimeSpan.FromMilliseconds(1), time);
            if (_isEnded || IsHeld) break;
            DurableUntil = until;
            Syncs++;
            Observer?.OnDurable(until);
        }

        _isSyncing = false;
    }
}
