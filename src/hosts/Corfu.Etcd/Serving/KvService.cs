using Corfu.Etcd.Translation;
using Google.Protobuf;
using Grpc.Core;

namespace Corfu.Etcd.Serving;

/// <summary>Keys: reads, writes, transactions, compaction.</summary>
internal sealed class KvService(StoreAccess access) : KV.KVBase
{
    public override Task<RangeResponse> Range(RangeRequest request, ServerCallContext context) =>
        access.RunAsync(nameof(Range), context, async (served, token) =>
        {
            RangeAnswers.Check(request);
            var found = await served.Store.RangeAsync(
                RangeAnswers.RangeOf(request), RangeAnswers.OptionsOf(request), At(request), token)
                .ConfigureAwait(false);
            return RangeAnswers.Answer(request, found, served.Header(found.Revision));
        });

    public override Task<PutResponse> Put(PutRequest request, ServerCallContext context) =>
        access.RunAsync(nameof(Put), context, async (served, token) =>
        {
            TxnChecks.Check(request);
            CheckSize(served, request);
            var result = await served.TransactAsync(
                StoreTransaction.Empty.Then(Transactions.Of(request)), token).ConfigureAwait(false);
            return TxnAnswers.Answer((PutAnswer)result.Answers[0], served.Header(result.Revision));
        });

    public override Task<DeleteRangeResponse> DeleteRange(DeleteRangeRequest request, ServerCallContext context) =>
        access.RunAsync(nameof(DeleteRange), context, async (served, token) =>
        {
            TxnChecks.Check(request);
            var result = await served.TransactAsync(
                StoreTransaction.Empty.Then(Transactions.Of(request)), token).ConfigureAwait(false);
            return TxnAnswers.Answer((DeleteAnswer)result.Answers[0], served.Header(result.Revision));
        });

    public override Task<TxnResponse> Txn(TxnRequest request, ServerCallContext context) =>
        access.RunAsync(nameof(Txn), context, async (served, token) =>
        {
            TxnChecks.Check(request, served.Limits.MaxOperations);
            CheckSize(served, request);
            var result = await served.TransactAsync(Transactions.Of(request), token).ConfigureAwait(false);
            return TxnAnswers.Answer(request, result, served.Header(result.Revision));
        });

    public override Task<CompactionResponse> Compact(CompactionRequest request, ServerCallContext context) =>
        access.RunAsync(nameof(Compact), context, async (served, token) =>
        {
            var raised = await served.Store.CompactAsync(request.Revision, request.Physical, token)
                .ConfigureAwait(false);
            // A new store is compacted to 1 from the start, and etcd's to none.
            if (!raised && request.Revision > 1) throw EtcdErrors.Compacted;
            return new CompactionResponse { Header = served.Header() };
        });

    private static ReadAs At(RangeRequest request) => request.Revision > 0
        ? ReadAs.At(request.Revision, request.Serializable)
        : request.Serializable ? ReadAs.Local : ReadAs.Linearizable;

    private static void CheckSize(ServedStore served, IMessage request)
    {
        if (request.CalculateSize() > served.Limits.MaxRequestBytes) throw EtcdErrors.TooLarge;
    }
}
