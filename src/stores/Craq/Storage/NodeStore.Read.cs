using System.Runtime.CompilerServices;

namespace Craq.Storage;

// Reads of the log and of the index, from any thread and without the node's lock.
internal sealed partial class NodeStore
{
    // Objects of one pass of a listing: about 25 MB.
    private const int ListedAtOnce = 256 << 10;

    public async ValueTask<ReadOnlyMemory<byte>?> ReadAsync(ObjectSlot slot, ObjectKey key)
    {
        // A single bad transfer is no damage: the record is read twice.
        for (var attempt = 0; attempt < 2; attempt++)
        {
            var bytes = await _log.TryReadAsync(slot.Address, slot.RecordLength);
            if (!RecordParts.TryFind(bytes, slot.Write, out var part)) continue;
            if (!part.Key.Span.SequenceEqual(key.Bytes.Span))
            {
                throw new StoreFailedException(
                    $"The keys {key} and {new ObjectKey(part.Key)} have one hash: delete one of them.");
            }

            if (part.IsIntact) return part.Value;
        }

        return null;
    }

    public async ValueTask<ObjectKey?> ReadKeyAsync(ObjectSlot slot)
    {
        for (var attempt = 0; attempt < 2; attempt++)
        {
            var bytes = await _log.TryReadAsync(slot.Address, slot.RecordLength);
            if (RecordParts.TryFind(bytes, slot.Write, out var part)) return new ObjectKey(part.Key).ToOwned();
        }

        return null;
    }

    public async IAsyncEnumerable<(ObjectHash Hash, ObjectSlot Slot)> ListAsync(ChainId chain, ObjectHash from)
    {
        while (true)
        {
            if (!_chains.TryGetValue(chain, out var held)) yield break;
            var part = new Listing(held.Holding, from);
            for (var at = 0L; at < _index.Tail;)
            {
                var tail = _index.Tail;
                await _index.ScanAsync(at, tail, part.Visit);
                at = tail;
            }

            foreach (var (hash, entry) in part.Take())
            {
                if (IsLive(entry, held)) yield return (hash, entry.ToSlot());
            }

            if (part.Next is not { } next) yield break;
            from = next;
        }
    }

    public async ValueTask<IReadOnlyList<(ChainId Chain, ObjectSlot Slot)>> FindExpiredAsync(long wall, int most)
    {
        if (!_mayExpire) return [];
        // An object that comes during the scan sets it again.
        _mayExpire = false;
        var chains = _chains.ToDictionary(chain => chain.Value.Holding, chain => (chain.Key, Held: chain.Value));
        // The newest entry of an object is visited last.
        var found = new Dictionary<ObjectHash, (ChainId, ObjectSlot)>();
        try
        {
            await _index.ScanAsync(0, _index.Tail, Visit);
        }
        catch
        {
            _mayExpire = true;
            throw;
        }

        return [.. found.Values];

        void Visit(ObjectHash hash, ObjectEntry entry)
        {
            var isExpired = false;
            if (entry.Expiry > 0 && chains.TryGetValue(entry.Holding, out var chain) && IsLive(entry, chain.Held))
            {
                _mayExpire = true;
                isExpired = entry.Expiry <= wall && (found.Count < most || found.ContainsKey(hash));
                if (isExpired) found[hash] = (chain.Key, entry.ToSlot());
            }

            if (!isExpired) found.Remove(hash);
        }
    }

    // The objects with the lowest hashes, in bounded memory. The index is visited in the order of its entries, so the
    // last one of a hash counts.
    private sealed class Listing(int holding, ObjectHash from)
    {
        private readonly Dictionary<ObjectHash, ObjectEntry> _found = [];

        // All entries up to here are kept, those above are not.
        private ObjectHash _limit = new(ulong.MaxValue, ulong.MaxValue);

        /// <summary>The hash with which the next pass begins; null: this is the last one.</summary>
        public ObjectHash? Next { get; private set; }

        public void Visit(ObjectHash hash, ObjectEntry entry)
        {
            if (hash.CompareTo(from) < 0 || hash.CompareTo(_limit) > 0) return;
            if (entry.IsObject && entry.Holding == holding) _found[hash] = entry;
            else _found.Remove(hash);
            if (_found.Count >= ListedAtOnce) Halve();
        }

        public IEnumerable<KeyValuePair<ObjectHash, ObjectEntry>> Take() => _found.OrderBy(e => e.Key);

        private void Halve()
        {
            ObjectHash[] hashes = [.. _found.Keys.Order()];
            _limit = hashes[hashes.Length / 2];
            foreach (var hash in hashes.AsSpan(hashes.Length / 2 + 1)) _found.Remove(hash);
            Next = _limit.Low == ulong.MaxValue
                ? new ObjectHash(_limit.High + 1, 0)
                : _limit with { Low = _limit.Low + 1 };
        }
    }
}
