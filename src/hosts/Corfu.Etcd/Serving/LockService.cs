using Corfu.Etcd.Translation;
using Grpc.Core;

namespace Corfu.Etcd.Serving;

/// <summary>Locks by name.</summary>
internal sealed class LockService(StoreAccess access) : Protocol.Lock.LockBase
{
    public override Task<LockResponse> Lock(LockRequest request, ServerCallContext context) =>
        access.RunLongAsync(nameof(Lock), context, async (served, token) =>
        {
            var (lease, turns) = (request.Lease, new Turns(served, request.Name));
            if (lease == 0) lease = await OwnLease.GrantAsync(served, token).ConfigureAwait(false);
            var turn = await turns.TakeAsync(lease, null, token).ConfigureAwait(false);
            await OwnLease.WaitOrLeaveAsync(turns, turn, token).ConfigureAwait(false);
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

/// <summary>Waits of callers of locks and elections.</summary>
internal static class OwnLease
{
    // Etcd's for a caller that names no lease. Nobody renews it: the turn ends with it.
    private static readonly TimeSpan s_timeToLive = TimeSpan.FromSeconds(60);

    public static ValueTask<long> GrantAsync(ServedStore served, CancellationToken cancellationToken) =>
        served.GrantLeaseAsync(s_timeToLive, 0, cancellationToken);

    /// <summary>Waits for a turn. A caller that goes away, or whose wait fails, leaves the row: else those behind it
    /// wait for its lease.</summary>
    public static async ValueTask WaitOrLeaveAsync(Turns turns, Turn turn, CancellationToken cancellationToken)
    {
        try
        {
            await turns.WaitAsync(turn, cancellationToken).ConfigureAwait(false);
        }
        catch (Exception)
        {
            await LeaveAsync(turns, turn).ConfigureAwait(false);
            throw;
        }
    }

    private static async ValueTask LeaveAsync(Turns turns, Turn turn)
    {
        try
        {
            await turns.LeaveAsync(turn.Key, turn.Created, CancellationToken.None).ConfigureAwait(false);
        }
        catch (Exception)
        {
            // The caller hears why it waited in vain; the row is left with its lease.
        }
    }
}
