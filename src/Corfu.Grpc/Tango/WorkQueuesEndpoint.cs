using Grpc.Core;
using Tango.Collections;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary><c>tango.v1.WorkQueues</c>: the front end keeps a delivery for a session.</summary>
internal sealed class WorkQueuesEndpoint(
    OpenObjects objects, TransactionRunner transactions, Sessions sessions, TimeProvider time)
    : V1.WorkQueues.WorkQueuesBase
{
    public override async Task<V1.EnqueueResponse> Enqueue(V1.EnqueueRequest request, ServerCallContext context)
    {
        await transactions.WriteAsync(
            new V1.TransactRequest
            {
                OnSuccess =
                {
                    new V1.Operation
                    {
                        Object = request.Object,
                        Enqueue = new V1.EnqueueOperation { Value = request.Value },
                    },
                },
            },
            context.CancellationToken);
        return new V1.EnqueueResponse();
    }

    public override async Task<V1.ReceiveResponse> Receive(V1.ReceiveRequest request, ServerCallContext context)
    {
        var session = sessions.Get(request.Session);
        var timeToLive = Durations.TimeToLive(request.TimeToLive) ?? session.TimeToLive;
        var maxWait = Durations.MaxWait(request.MaxWait);
        session.RequireRoom();
        var delivery = await objects.UseAsync<TangoWorkQueue<byte[]>, Delivery<byte[]>?>(
            request.Object,
            queue => Waits.ForAsync(
                session, maxWait, time, stop => queue.TryReceiveAsync(timeToLive, stop),
                stop => queue.ReceiveAsync(timeToLive, stop), context.CancellationToken),
            context.CancellationToken);
        if (delivery is null) return new V1.ReceiveResponse();
        if (context.CancellationToken.IsCancellationRequested)
        {
            // Its caller will not hear of it.
            await delivery.DisposeAsync();
            context.CancellationToken.ThrowIfCancellationRequested();
        }

        await session.KeepAsync(
            Holding.Delivery(request.Object, delivery.Item, delivery.Token), delivery, delivery.Lost);
        return new V1.ReceiveResponse
        {
            Delivery = new V1.Delivery { Item = delivery.Item, Token = delivery.Token },
            Value = Bytes.Of(delivery.Value),
            Attempt = (uint)delivery.Attempt,
        };
    }

    // Another front end that keeps the delivery learns from its next renewal that it is over.
    public override async Task<V1.CompleteResponse> Complete(V1.CompleteRequest request, ServerCallContext context)
    {
        var (item, token) = NumbersOf(request.Delivery);
        var holding = Holding.Delivery(request.Object, item, token);
        await objects.UseAsync<TangoWorkQueue<byte[]>, bool>(
            request.Object,
            async queue =>
            {
                if (sessions.FindDelivery(holding) is { } kept)
                    await queue.CompleteAsync(kept, context.CancellationToken);
                else await queue.CompleteAsync(item, token, context.CancellationToken);
                return true;
            },
            context.CancellationToken);
        sessions.Complete(holding);
        return new V1.CompleteResponse();
    }

    public override async Task<V1.AbandonResponse> Abandon(V1.AbandonRequest request, ServerCallContext context)
    {
        var session = sessions.Get(request.Session);
        var (item, token) = NumbersOf(request.Delivery);
        if (!session.TryTake<Delivery<byte[]>>(Holding.Delivery(request.Object, item, token), out var delivery))
            return new V1.AbandonResponse();
        var wasHeld = delivery.IsHeld;
        await delivery.DisposeAsync();
        return new V1.AbandonResponse { Abandoned = wasHeld };
    }

    public override async Task<V1.CountItemsResponse> Count(
        V1.CountItemsRequest request, ServerCallContext context) =>
        await objects.UseAsync<TangoWorkQueue<byte[]>, V1.CountItemsResponse>(
            request.Object,
            async queue => new V1.CountItemsResponse
            {
                Ready = (ulong)await queue.CountAsync(context.CancellationToken),
                Delivered = (ulong)await queue.DeliveredAsync(context.CancellationToken),
            },
            context.CancellationToken);

    private static (long Item, long Token) NumbersOf(V1.Delivery? delivery) => delivery is null
        ? throw new RequestException("delivery is missing.")
        : (delivery.Item, delivery.Token);
}
