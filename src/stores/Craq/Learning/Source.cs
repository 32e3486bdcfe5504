using Craq.Chains;
using Craq.Storage;

namespace Craq.Learning;

/// <summary>A full member's side of a reconciliation. A source keeps no state of its learners: each request is
/// complete.</summary>
internal sealed class Source(CraqHandler handler, INodeStore store, TimeProvider time)
{
    private const int MaxAtOnce = 8;
    private const int AnswerBytes = 1 << 20;

    private readonly Contents _contents = new(store, time);
    private int _atOnce;

    public void Handle(ReconcileRequest request, ReplyTo reply)
    {
        var refusal = (Status?)Status.NotInstalled;
        var (mark, isLocked) = (ObjectVersion.None, false);
        var begins = request.Prefixes.IsEmpty && request.Keys.IsEmpty && request.Contents is null;
        handler.WithChain(request.Chain, (core, _) =>
        {
            // A learner is no source (C10), and a member of another epoch may lack what this one has committed.
            refusal = core.RefusesLearner(request.Epoch);
            mark = core.Mark;
            isLocked = core.Locks.AsOf(mark).Any();
        });
        // The base was this chain's mark somewhere: a member that has not reached it waits for its own predecessor.
        if (refusal is null && request.Base > mark) refusal = CraqStatus.Behind;
        // A learner has the locks of the records above its base: none may be held as of it (C15).
        if (refusal is null && isLocked && begins) refusal = CraqStatus.Behind;
        if (refusal is not null) reply.Send(request.Fail(refusal.Value, request.Epoch));
        else if (begins)
            reply.Send(new ReconcileResponse(Status.Ok, request.Epoch) { Base = mark });
        else if (Interlocked.Increment(ref _atOnce) <= MaxAtOnce) _ = AnswerAsync(request, reply);
        else
        {
            Interlocked.Decrement(ref _atOnce);
            reply.Send(request.Fail(Status.Overloaded, request.Epoch));
        }
    }

    private async Task AnswerAsync(ReconcileRequest request, ReplyTo reply)
    {
        Response answer;
        try
        {
            var buckets = ImmutableArray.CreateBuilder<HashBucket>(request.Prefixes.Length);
            foreach (var prefix in request.Prefixes)
                buckets.Add(await Digests.ReadAsync(store, request.Chain, prefix, request.Base));
            var records = await ReadAsync(request);
            var contents = request.Contents is { } range
                ? await _contents.ReadAsync(request.Chain, range, request.Base)
                : null;
            var mark = ObjectVersion.None;
            handler.WithChain(request.Chain, (core, _) => mark = core.Mark);
            answer = new ReconcileResponse(Status.Ok, request.Epoch)
            {
                Base = mark,
                Buckets = buckets.MoveToImmutable(),
                Records = records,
                Contents = contents,
            };
        }
        catch (Exception e) when (e is CorfuException or IOException or ObjectDisposedException)
        {
            // A damaged object, or a node that ends: another member may do better.
            answer = request.Fail(Status.Failed, request.Epoch);
        }
        finally
        {
            Interlocked.Decrement(ref _atOnce);
        }

        reply.Send(answer);
    }

    private async ValueTask<ImmutableArray<ReadOnlyMemory<byte>>> ReadAsync(ReconcileRequest request)
    {
        var records = ImmutableArray.CreateBuilder<ReadOnlyMemory<byte>>();
        var bytes = 0L;
        foreach (var key in request.Keys)
        {
            var record = await FindAsync(request.Chain, new ObjectHash(key.High, key.Low), request.Base);
            if (records.Count > 0 && bytes + record.Length > AnswerBytes) break;
            bytes += record.Length;
            records.Add(record);
        }

        return records.ToImmutable();
    }

    // A version above the base reaches the learner as a record.
    private async ValueTask<ReadOnlyMemory<byte>> FindAsync(ChainId chain, ObjectHash wanted, ObjectVersion until)
    {
        await foreach (var (hash, slot) in store.ListAsync(chain, wanted))
        {
            if (hash != wanted || slot.Version > until) break;
            // Damaged, or cleaned away meanwhile. An empty answer would say that a newer record brings the object.
            if (await store.ReadKeyAsync(slot) is not { } key || await store.ReadAsync(slot, key) is not { } value)
                throw new CorfuException($"An object of chain {chain} cannot be read here.");
            return RecordCodec.Encode(new ChainRecord(chain, ChainRecordKind.Write, slot.Version, ObjectVersion.None,
                [], [new ObjectWrite(key, slot.Flags, slot.Expiry, value)]));
        }

        return default;
    }
}
