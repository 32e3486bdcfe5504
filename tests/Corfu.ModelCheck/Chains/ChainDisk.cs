using Corfu.Protocol;
using Craq;
using Craq.Storage;

namespace Corfu.ModelCheck.Chains;

/// <summary>A node's disk as a list of records. Everything is durable at once: what a crash may take away was never
/// passed on or answered, so it is the same as a request that was lost on its way.</summary>
internal sealed class ChainDisk : INodeStore
{
    private readonly Dictionary<ObjectKey, ObjectSlot> _slots = [];

    public ChainDisk(IEnumerable<StoreRecord> log) => Log = [.. log];

    public List<StoreRecord> Log { get; }

    public INodeStoreObserver? Observer { get; set; }

    public long DurableUntil => Log.Count;

    public ValueTask<bool> RecoverAsync(Action<StoreRecord> visit)
    {
        foreach (var record in Log.ToArray()) visit(record);
        return new(Log.Count > 0);
    }

    public ValueTask AttachAsync(INodeChains? chains) => ValueTask.CompletedTask;

    public Status Admit(int bytes, StoreUse use) => Status.Ok;

    public StorePlace Append(StoreRecordKind kind, ChainId chain, ObjectVersion version, ReadOnlySpan<byte> body)
    {
        var place = new StorePlace(Log.Count, body.Length, Log.Count + 1);
        Log.Add(new StoreRecord(kind, chain, version, body.ToArray(), place));
        return place;
    }

    public void Commit()
    {
    }

    public bool TryFind(ChainId chain, ObjectKey key, out ObjectSlot? slot)
    {
        slot = _slots.TryGetValue(key, out var found) ? found : null;
        return true;
    }

    public ValueTask LoadAsync(ChainId chain, ObjectKey key) => ValueTask.CompletedTask;

    public void Set(ChainId chain, ObjectKey key, in ObjectSlot slot) => _slots[key] = slot;

    public void Remove(ChainId chain, ObjectKey key, ObjectVersion version, long address) => _slots.Remove(key);

    public void Clear(ChainId chain, ObjectVersion below) => _slots.Clear();

    public void Forget(ChainId chain) => _slots.Clear();

    public ValueTask<ReadOnlyMemory<byte>?> ReadAsync(ObjectSlot slot, ObjectKey key) =>
        throw new NotSupportedException("The model reads versions only.");

    public IAsyncEnumerable<(ObjectHash Hash, ObjectSlot Slot)> ListAsync(ChainId chain, ObjectHash from) =>
        throw new NotSupportedException("The model has no learners.");

    public ValueTask<ObjectKey?> ReadKeyAsync(ObjectSlot slot) =>
        throw new NotSupportedException("The model has no learners.");

    public ValueTask<IReadOnlyList<(ChainId Chain, ObjectSlot Slot)>> FindExpiredAsync(long wall, int most) =>
        throw new NotSupportedException("The model's objects do not expire.");

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
