using Grpc.Core;
using Tango;
using Tango.Collections;
using Queue = Tango.Collections.TangoWorkQueue<byte[]>;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary><c>corfu.tango.v1.QueueService</c>: a session holds a delivery.</summary>
internal sealed class QueuesEndpoint(
    OpenObjects objects, TransactionRunner transactions, Sessions sessions, TimeProvider time)
    : V1.QueueService.QueueServiceBase
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
                RequestId = request.RequestId,
            },
            context);
        return new V1.EnqueueResponse();
    }

    public override async Task<V1.ReceiveResponse> Receive(V1.ReceiveRequest request, ServerCallContext context)
    {
        var session = sessions.Get(request.Session, Callers.OwnerOf(context));
        var maxWait = Durations.MaxWait(request.MaxWait);
        session.RequireRoom();
        return await objects.UseAsync<Queue, V1.ReceiveResponse>(
            request.Object, ReceiveAsync, context.CancellationToken);

        async Task<V1.ReceiveResponse> ReceiveAsync(Queue queue)
        {
            var began = session.Round;
            var delivery = await Waits.ForAsync(
                session, maxWait, time, stop => queue.TryReceiveAsync(session.TimeToLive, stop),
                stop => queue.ReceiveAsync(session.TimeToLive, stop), context.CancellationToken);
            if (delivery is null) return new V1.ReceiveResponse();
            if (context.CancellationToken.IsCancellationRequested)
            {
                // The caller will not learn of the delivery.
                await delivery.DisposeAsync();
                context.CancellationToken.ThrowIfCancellationRequested();
            }

            // From here on the session's keep-alives renew it.
            await delivery.LetGoAsync();
            await session.KeepAsync(Held.Delivery(request.Object, queue, delivery.Item, delivery.Token), began);
            return new V1.ReceiveResponse
            {
                Delivery = new V1.Delivery { Item = delivery.Item, Token = delivery.Token },
                Value = Bytes.Of(delivery.Value),
                Attempt = delivery.Attempt,
            };
        }
    }

    // Another front end, whose session holds the delivery, learns the end from its next renewal.
    public override async Task<V1.CompleteResponse> Complete(V1.CompleteRequest request, ServerCallContext context)
    {
        var (item, token) = NumbersOf(request.Delivery);
        await objects.UseAsync<Queue, bool>(
            request.Object,
            async queue =>
            {
                await queue.CompleteAsync(item, token, context.CancellationToken);
                return true;
            },
            context.CancellationToken);
        sessions.Forget(HoldingKey.Delivery(request.Object, item, token));
        return new V1.CompleteResponse();
    }

    public override async Task<V1.AbandonResponse> Abandon(V1.AbandonRequest request, ServerCallContext context)
    {
        var (item, token) = NumbersOf(request.Delivery);
        var abandoned = await objects.UseAsync<Queue, bool>(request.Object, AbandonAsync, context.CancellationToken);
        sessions.Forget(HoldingKey.Delivery(request.Object, item, token));
        return new V1.AbandonResponse { Abandoned = abandoned };

        async Task<bool> AbandonAsync(Queue queue)
        {
            try
            {
                await queue.AbandonAsync(item, token, context.CancellationToken);
                return true;
            }
            catch (TangoRejectedException)
            {
                return false;
            }
        }
    }

    public override async Task<V1.CountItemsResponse> Count(
        V1.CountItemsRequest request, ServerCallContext context)
    {
        var (response, _) = await objects.ReadAsync<Queue, V1.CountItemsResponse>(
            request.Object,
            async queue => new V1.CountItemsResponse
            {
                Ready = await queue.CountAsync(context.CancellationToken),
                Delivered = await queue.DeliveredAsync(context.CancellationToken),
            },
            context.CancellationToken);
        return response;
    }

    private static (long Item, long Token) NumbersOf(V1.Delivery? delivery) => delivery is { Item: > 0, Token: > 0 }
        ? (delivery.Item, delivery.Token)
        : throw new RequestException("delivery is missing, or has no item or token.");
}
