using Craq.Storage;

namespace Craq.Learning;

/// <summary>A round of a learner: makes its clean objects those of its source as of a base, and copies only what
/// differs (CRAQ 5.3).</summary>
/// <param name="from">The source's mark, at which the learner began.</param>
/// <param name="call">Asks the source; throws where it does not answer.</param>
/// <param name="follow">Takes the newest records of the source meanwhile; false: it has forgotten some of them.</param>
internal sealed class Reconciliation(CraqHandler handler, INodeStore store, ChainId chain, Epoch epoch,
    ObjectVersion from, Func<ReconcileRequest, Task<ReconcileResponse>> call, Func<Task<bool>> follow)
{
    /// <summary>A mark of the source behind all its answers. Objects that were written above the base were passed over:
    /// with the records up to there clean, the learner has them all (C11).</summary>
    public ObjectVersion Until { get; private set; }

    /// <summary>1. Ranges that differ are split until their objects are few. 2. What the learner lacks or has older is
    /// copied, what the source lacks is dropped.</summary>
    /// <returns>False: the learner begins again.</returns>
    public async Task<bool> RunAsync()
    {
        var open = new Stack<HashPrefix>([default]);
        while (open.Count > 0)
        {
            var asked = Pop(open);
            var answer = await AskAsync(new ReconcileRequest(epoch, chain, from, asked, []));
            if (answer.Buckets.Length != asked.Length) throw new MalformedDataException("A bucket is missing.");
            for (var i = 0; i < asked.Length; i++)
            {
                if (!await CompareAsync(asked[i], answer.Buckets[i], open)) return false;
            }

            if (!await follow()) return false;
        }

        return true;
    }

    private async Task<ReconcileResponse> AskAsync(ReconcileRequest request)
    {
        var answer = await call(request);
        Until = ObjectVersion.Max(Until, answer.Base);
        return answer;
    }

    private static ImmutableArray<HashPrefix> Pop(Stack<HashPrefix> open)
    {
        var some = ImmutableArray.CreateBuilder<HashPrefix>();
        while (some.Count < ReconcileRequest.MaxPrefixes && open.TryPop(out var prefix)) some.Add(prefix);
        return some.ToImmutable();
    }

    private async Task<bool> CompareAsync(HashPrefix prefix, HashBucket theirs, Stack<HashPrefix> open)
    {
        if (theirs.Digests.IsEmpty) return await TakeOverAsync(prefix, theirs.Keys);
        if (prefix.Length == HashPrefix.MaxLength) throw new MalformedDataException("A bucket is split too far.");
        var mine = await Digests.ReadAsync(store, chain, prefix, from, all: true);
        for (var i = 0; i < HashBucket.Fan; i++)
        {
            if (mine.Digests[i] != theirs.Digests[i]) open.Push(prefix.Child(i));
        }

        return true;
    }

    private async Task<bool> TakeOverAsync(HashPrefix prefix, ImmutableArray<KeyVersion> theirs)
    {
        var source = theirs.ToDictionary(key => key.Hash, key => key.Version);
        var surplus = new List<ObjectSlot>();
        await foreach (var (hash, slot) in store.ListAsync(chain, new ObjectHash(prefix.Bits, 0)))
        {
            if (hash.High > prefix.Last) break;
            if (slot.Version > from) continue;
            var key = new KeyHash(hash.High, hash.Low);
            if (!source.TryGetValue(key, out var version)) surplus.Add(slot);
            else if (slot.Version >= version) source.Remove(key);
        }

        // A deleted object must not live again (C11).
        foreach (var slot in surplus)
        {
            if (await store.ReadKeyAsync(slot) is not { } key) return false;
            if (!Step((core, effects) => core.Drop(key, effects))) return false;
        }

        return await CopyAsync([.. source.Keys.OrderBy(key => key.High).ThenBy(key => key.Low)]);
    }

    private async Task<bool> CopyAsync(ImmutableArray<KeyHash> wanted)
    {
        while (!wanted.IsEmpty)
        {
            ImmutableArray<KeyHash> asked = [.. wanted.Take(ReconcileRequest.MaxKeys)];
            // A source keeps its newest records in memory for a while only: the learner follows them beside the copies.
            var asking = AskAsync(new ReconcileRequest(epoch, chain, from, [], asked));
            var following = follow();
            await Task.WhenAll(asking, following);
            if (!await following) return false;
            var answer = await asking;
            if (answer.Records.IsEmpty || answer.Records.Length > asked.Length)
                throw new MalformedDataException("Objects are missing in an answer.");
            for (var i = 0; i < answer.Records.Length; i++)
            {
                if (!answer.Records[i].IsEmpty && !Copy(asked[i], answer.Records[i])) return false;
            }

            wanted = wanted.RemoveRange(0, answer.Records.Length);
        }

        return true;
    }

    private bool Copy(KeyHash asked, ReadOnlyMemory<byte> bytes)
    {
        var record = RecordCodec.Decode(bytes);
        if (record.Chain != chain || record.Writes is not [{ IsDelete: false } write] || record.Version > from
            || ObjectHash.Of(chain, write.Key) != new ObjectHash(asked.High, asked.Low))
            throw new MalformedDataException("An object is not the one that was asked for.");
        return Step((core, effects) => core.Put(bytes, effects));
    }

    private bool Step(Func<Chains.ChainCore, Chains.ChainEffects, Status> step)
    {
        var status = Status.Failed;
        handler.WithChain(chain, (core, effects) => status = step(core, effects));
        return status == Status.Ok;
    }
}
