using Corfu.Etcd.Translation;
using Grpc.Core;

namespace Corfu.Etcd.Serving;

/// <summary>Locks by name.</summary>
internal sealed class LockService(StoreAccess access) : Protocol.Lock.LockBase
{
    public override Task<LockResponse> Lock(LockRequest request, ServerCallContext context) =>
        access.RunLongAsync(nameof(Lock), context, async (served, token) =>
        {
            var turns = new Turns(served, request.Name);
            var lease = await turns.LeaseAsync(request.Lease, token).ConfigureAwait(false);
            var turn = await turns.TakeAsync(lease, null, token).ConfigureAwait(false);
            await turns.WaitOrLeaveAsync(turn, token).ConfigureAwait(false);
            return new LockResponse { Header = served.Header(turn.Revision), Key = Ranges.ToBytes(turn.Key) };
        });

    public override Task<UnlockResponse> Unlock(UnlockRequest request, ServerCallContext context) =>
        access.RunAsync(nameof(Unlock), context, async (served, token) =>
        {
            if (request.Key.IsEmpty) throw EtcdErrors.EmptyKey;
            var result = await served.TransactAsync(
                StoreTransaction.Empty.Then(new StoreDelete(Ranges.KeyOf(request.Key))), token).ConfigureAwait(false);
            return new UnlockResponse { Header = served.Header(result.Revision) };
        });
}
