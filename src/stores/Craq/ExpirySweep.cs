using Craq.Storage;

namespace Craq;

/// <summary>Deletes expired objects of the chains that this node is head of: readers see them as absent, and their
/// space comes back. A deletion goes down the chain as any write.</summary>
internal sealed class ExpirySweep(CraqHandler handler, INodeStore store, TimeProvider time)
{
    // Deletions of one record.
    private const int Batch = 256;

    // Objects of one pass over the index: about 3 MB.
    private const int MostAtOnce = 64 << 10;

    /// <summary>Deletes all that is expired now.</summary>
    public async ValueTask SweepAllAsync(CancellationToken cancellationToken)
    {
        while (await SweepAsync(cancellationToken))
        {
        }
    }

    /// <summary>Deletes what is expired now, in one pass over the index.</summary>
    /// <returns>Whether there may be more, and this pass has deleted some: until a deletion is committed, the index has
    /// its object still, and a further pass would find that again.</returns>
    public async ValueTask<bool> SweepAsync(CancellationToken cancellationToken)
    {
        var found = await store.FindExpiredAsync(time.GetUtcNow().ToUnixTimeMilliseconds(), MostAtOnce);
        var deleted = 0;
        foreach (var chain in found.GroupBy(one => one.Chain, one => one.Slot))
        {
            if (handler.FindView(chain.Key)?.Config.Head.Node != handler.Id) continue;
            foreach (var batch in chain.Chunk(Batch))
            {
                cancellationToken.ThrowIfCancellationRequested();
                if (await ExpireAsync(chain.Key, batch) is not { } count) break;
                deleted += count;
            }
        }

        return deleted > 0 && found.Count == MostAtOnce;
    }

    // Null: the chain takes no deletions at the moment.
    private async ValueTask<int?> ExpireAsync(ChainId chain, ObjectSlot[] slots)
    {
        var expired = new List<(ObjectKey Key, ObjectVersion Version)>(slots.Length);
        foreach (var slot in slots)
        {
            // Null: cleaned away meanwhile, or damaged.
            if (await store.ReadKeyAsync(slot) is not { } key) continue;
            // The head looks at the newest version under the node's lock.
            await store.LoadAsync(chain, key);
            expired.Add((key, slot.Version));
        }

        int? deleted = null;
        handler.WithChain(chain, (core, effects) => deleted = core.Expire(expired, effects));
        return deleted;
    }
}
