using Corfu.Protocol;
using Craq;
using Craq.Storage;

namespace Corfu.Simulation.Craq;

/// <summary>A node's store under the eyes of the monitor: what is appended, durable and read back.</summary>
internal sealed class StoreWatch(INodeStore store, NodeLog log) : INodeStore, INodeStoreObserver
{
    private INodeStoreObserver? _observer;

    public INodeStoreObserver? Observer
    {
        get => _observer;
        set
        {
            _observer = value;
            store.Observer = value is null ? null : this;
        }
    }

    public long DurableUntil => store.DurableUntil;

    public async ValueTask<bool> RecoverAsync(Action<StoreRecord> visit)
    {
        log.Restart();
        var hadRecords = await store.RecoverAsync(record =>
        {
            log.Recovered(record);
            visit(record);
        });
        log.Recovered();
        return hadRecords;
    }

    public ValueTask AttachAsync(INodeChains? chains) => store.AttachAsync(chains);

    public Status Admit(int bytes, StoreUse use) => store.Admit(bytes, use);

    public StorePlace Append(StoreRecordKind kind, ChainId chain, ObjectVersion version, ReadOnlySpan<byte> body)
    {
        var place = store.Append(kind, chain, version, body);
        log.Appended(new StoreRecord(kind, chain, version, body.ToArray(), place));
        return place;
    }

    public void Commit() => store.Commit();

    public bool TryFind(ChainId chain, ObjectKey key, out ObjectSlot? slot) => store.TryFind(chain, key, out slot);

    public ValueTask LoadAsync(ChainId chain, ObjectKey key) => store.LoadAsync(chain, key);

    public void Set(ChainId chain, ObjectKey key, in ObjectSlot slot)
    {
        if (store.TryFind(chain, key, out var held) && held?.Version > slot.Version)
            log.Fell(chain, key, held.Value.Version, slot.Version);
        store.Set(chain, key, slot);
    }

    public void Remove(ChainId chain, ObjectKey key, ObjectVersion version, long address) =>
        store.Remove(chain, key, version, address);

    public void Clear(ChainId chain, ObjectVersion below) => store.Clear(chain, below);

    public void Forget(ChainId chain) => store.Forget(chain);

    public ValueTask<ReadOnlyMemory<byte>?> ReadAsync(ObjectSlot slot, ObjectKey key) => store.ReadAsync(slot, key);

    public IAsyncEnumerable<(ObjectHash Hash, ObjectSlot Slot)> ListAsync(ChainId chain, ObjectHash from) =>
        store.ListAsync(chain, from);

    public ValueTask<IReadOnlyList<(ChainId Chain, ObjectSlot Slot)>> FindExpiredAsync(long wall, int most) =>
        store.FindExpiredAsync(wall, most);

    public ValueTask<ObjectKey?> ReadKeyAsync(ObjectSlot slot) => store.ReadKeyAsync(slot);

    public ValueTask DisposeAsync() => store.DisposeAsync();

    public void OnDurable(long lsn)
    {
        log.Durable(lsn);
        _observer?.OnDurable(lsn);
    }

    public void OnFailed(Exception error) => _observer?.OnFailed(error);
}
