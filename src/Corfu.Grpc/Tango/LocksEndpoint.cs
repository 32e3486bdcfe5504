using Grpc.Core;
using Tango.Collections;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary><c>tango.v1.Locks</c>: the front end holds a lock for a session.</summary>
internal sealed class LocksEndpoint(OpenObjects objects, Sessions sessions, TimeProvider time) : V1.Locks.LocksBase
{
    public override async Task<V1.AcquireResponse> Acquire(V1.AcquireRequest request, ServerCallContext context)
    {
        var session = sessions.Get(request.Session);
        var timeToLive = Durations.TimeToLive(request.TimeToLive) ?? session.TimeToLive;
        var maxWait = Durations.MaxWait(request.MaxWait);
        session.RequireRoom();
        var held = await objects.UseAsync<TangoLock, HeldLock?>(
            request.Object,
            mutex => Waits.ForAsync(
                session, maxWait, time, stop => mutex.TryAcquireAsync(timeToLive, session.Owner, stop),
                stop => mutex.AcquireAsync(timeToLive, session.Owner, stop), context.CancellationToken),
            context.CancellationToken);
        if (held is null) return new V1.AcquireResponse();
        if (context.CancellationToken.IsCancellationRequested)
        {
            // Its caller will not hear of it.
            await held.DisposeAsync();
            context.CancellationToken.ThrowIfCancellationRequested();
        }

        await session.KeepAsync(Holding.Lock(request.Object, held.FencingToken), held, held.Lost);
        return new V1.AcquireResponse { FencingToken = held.FencingToken };
    }

    public override async Task<V1.ReleaseResponse> Release(V1.ReleaseRequest request, ServerCallContext context)
    {
        var session = sessions.Get(request.Session);
        if (!session.TryTake<HeldLock>(Holding.Lock(request.Object, request.FencingToken), out var held))
            return new V1.ReleaseResponse();
        var wasHeld = held.IsHeld;
        await held.DisposeAsync();
        return new V1.ReleaseResponse { Released = wasHeld };
    }

    public override async Task<V1.GetHolderResponse> GetHolder(
        V1.GetHolderRequest request, ServerCallContext context)
    {
        var found = await objects.UseAsync<TangoLock, Lookup<LockHolder>>(
            request.Object, mutex => mutex.HolderAsync(context.CancellationToken).AsTask(),
            context.CancellationToken);
        return found.TryGet(out var holder)
            ? new V1.GetHolderResponse { FencingToken = holder.FencingToken, Owner = holder.Owner }
            : new V1.GetHolderResponse();
    }
}
