using Grpc.Core;
using Tango.Collections;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary><c>corfu.tango.v1.LockService</c>: a session holds a lock.</summary>
internal sealed class LocksEndpoint(OpenObjects objects, Sessions sessions, TimeProvider time)
    : V1.LockService.LockServiceBase
{
    public override async Task<V1.AcquireResponse> Acquire(V1.AcquireRequest request, ServerCallContext context)
    {
        var session = sessions.Get(request.Session, Callers.OwnerOf(context));
        var maxWait = Durations.MaxWait(request.MaxWait);
        session.RequireRoom();
        return await objects.UseAsync<TangoLock, V1.AcquireResponse>(
            request.Object, AcquireAsync, context.CancellationToken);

        async Task<V1.AcquireResponse> AcquireAsync(TangoLock mutex)
        {
            var began = session.Round;
            var held = await Waits.ForAsync(
                session, maxWait, time, stop => mutex.TryAcquireAsync(session.TimeToLive, session.Owner, stop),
                stop => mutex.AcquireAsync(session.TimeToLive, session.Owner, stop), context.CancellationToken);
            if (held is null) return new V1.AcquireResponse();
            if (context.CancellationToken.IsCancellationRequested)
            {
                // The caller will not learn of the lock.
                await held.DisposeAsync();
                context.CancellationToken.ThrowIfCancellationRequested();
            }

            // From here on the session's keep-alives renew it.
            await held.LetGoAsync();
            await session.KeepAsync(Held.Lock(request.Object, mutex, held.FencingToken), began);
            return new V1.AcquireResponse { FencingToken = held.FencingToken };
        }
    }

    public override async Task<V1.ReleaseResponse> Release(V1.ReleaseRequest request, ServerCallContext context)
    {
        if (request.FencingToken <= 0) throw new RequestException("fencing_token is missing.");
        var released = await objects.UseAsync<TangoLock, bool>(
            request.Object, mutex => mutex.ReleaseAsync(request.FencingToken, context.CancellationToken).AsTask(),
            context.CancellationToken);
        sessions.Forget(HoldingKey.Lock(request.Object, request.FencingToken));
        return new V1.ReleaseResponse { Released = released };
    }

    public override async Task<V1.GetHolderResponse> GetHolder(
        V1.GetHolderRequest request, ServerCallContext context)
    {
        var (found, _) = await objects.ReadAsync<TangoLock, Lookup<LockHolder>>(
            request.Object, mutex => mutex.HolderAsync(context.CancellationToken), context.CancellationToken);
        return found.TryGet(out var holder)
            ? new V1.GetHolderResponse { FencingToken = holder.FencingToken, Owner = holder.Owner }
            : new V1.GetHolderResponse();
    }
}
