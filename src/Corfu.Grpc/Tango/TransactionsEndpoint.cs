using Grpc.Core;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary><c>tango.v1.Transactions</c>.</summary>
internal sealed class TransactionsEndpoint(TransactionRunner transactions) : V1.Transactions.TransactionsBase
{
    public override Task<V1.TransactResponse> Transact(V1.TransactRequest request, ServerCallContext context) =>
        transactions.RunAsync(request, context.CancellationToken);

    public override Task<V1.TransactResponse> Resolve(V1.ResolveRequest request, ServerCallContext context) =>
        transactions.ResolveAsync(request.Transaction, context.CancellationToken);
}
