using Grpc.Core;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary><c>corfu.tango.v1.TransactionService</c>.</summary>
internal sealed class TransactionsEndpoint(TransactionRunner transactions, Sessions sessions)
    : V1.TransactionService.TransactionServiceBase
{
    public override async Task<V1.TransactResponse> Transact(V1.TransactRequest request, ServerCallContext context)
    {
        var response = await transactions.RunAsync(request, context);
        if (response.Committed is not { } committed) return response;
        foreach (var operation in committed.Succeeded ? request.OnSuccess : request.OnFailure)
        {
            if (operation.Complete is { } done)
                sessions.Forget(HoldingKey.Delivery(operation.Object, done.Item, done.Token));
        }

        return response;
    }

    public override Task<V1.ResolveResponse> Resolve(V1.ResolveRequest request, ServerCallContext context) =>
        transactions.ResolveAsync(request.RequestId, context);
}
