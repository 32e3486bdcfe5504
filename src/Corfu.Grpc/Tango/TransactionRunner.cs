using Microsoft.Extensions.Options;
using Tango;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary>Runs transactions that callers describe, and tells their outcomes.</summary>
internal sealed class TransactionRunner(
    OpenObjects objects, RememberedTransactions remembered, IOptions<CorfuGrpcOptions> options)
{
    public async Task<V1.TransactResponse> RunAsync(
        V1.TransactRequest request, CancellationToken cancellationToken)
    {
        if (request.Transaction.Length == 0) return await RunOnceAsync(request, cancellationToken);
        remembered.Begin(request.Transaction);
        V1.TransactResponse? outcome = null;
        try
        {
            return outcome = await RunOnceAsync(request, cancellationToken);
        }
        finally
        {
            // An exception means that nothing was sent.
            remembered.End(request.Transaction, outcome);
        }
    }

    /// <summary>A single write, of one object.</summary>
    /// <exception cref="TransactionAbortedException">It lost to others too often.</exception>
    /// <exception cref="TransactionInDoubtException">What became of it is not known.</exception>
    public async Task<V1.Committed> WriteAsync(V1.TransactRequest request, CancellationToken cancellationToken)
    {
        var outcome = await RunOnceAsync(request, cancellationToken);
        return outcome.OutcomeCase switch
        {
            V1.TransactResponse.OutcomeOneofCase.Committed => outcome.Committed,
            V1.TransactResponse.OutcomeOneofCase.Aborted => throw new TransactionAbortedException(outcome.Aborted),
            _ => throw new TransactionInDoubtException(outcome.InDoubt),
        };
    }

    /// <exception cref="TransactionNotFoundException">It is not remembered.</exception>
    public async Task<V1.TransactResponse> ResolveAsync(string transaction, CancellationToken cancellationToken)
    {
        var known = await remembered.GetAsync(transaction, cancellationToken);
        if (known.InDoubt is not { } doubt) return known.Response;
        var runtime = await objects.RuntimeAsync(cancellationToken);
        var outcome = await runtime.ResolveAsync(doubt, cancellationToken);
        if (outcome is TxOutcome.InDoubt again) return Say(again, transaction);
        var response = outcome switch
        {
            TxOutcome.Committed committed => Say(committed, known.Expected!),
            TxOutcome.Aborted aborted => Say(aborted, null),
            _ => throw new InvalidOperationException($"A transaction was resolved as {outcome.GetType().Name}"),
        };
        remembered.Settle(transaction, response);
        return response;
    }

    private async Task<V1.TransactResponse> RunOnceAsync(
        V1.TransactRequest request, CancellationToken cancellationToken)
    {
        try
        {
            return await RunOpenAsync(request, cancellationToken);
        }
        catch (TangoObjectDeletedException e) when (objects.Forget(e))
        {
            // The name may be of another object now. Nothing took effect.
            return await RunOpenAsync(request, cancellationToken);
        }
    }

    private async Task<V1.TransactResponse> RunOpenAsync(
        V1.TransactRequest request, CancellationToken cancellationToken)
    {
        var runtime = await objects.RuntimeAsync(cancellationToken);
        var limits = options.Value.Tango;
        var plan = await TransactionPlan.MakeAsync(request, objects, limits.MaxOperations, cancellationToken);
        var done = new V1.Committed();
        try
        {
            var outcome = await runtime.RunTransactionAsync(
                async transaction => { done = await plan.RunAsync(transaction, cancellationToken); },
                new TransactionOptions { MaxAttempts = limits.MaxAttempts }, cancellationToken);
            return outcome switch
            {
                TxOutcome.Committed committed => Say(committed, done),
                TxOutcome.InDoubt doubt => Say(doubt, remembered.Keep(request.Transaction, doubt, done)),
                _ => throw new InvalidOperationException($"A transaction ended as {outcome.GetType().Name}"),
            };
        }
        catch (TangoAbortedException e)
        {
            return Say(e.Outcome, e.Message);
        }
        catch (TangoRejectedException e)
        {
            return new V1.TransactResponse
            {
                Aborted = new V1.Aborted { Reason = V1.Aborted.Types.Reason.Rejected, Message = e.Reason },
            };
        }
    }

    private static V1.TransactResponse Say(TxOutcome.Committed outcome, V1.Committed done)
    {
        done.Version = Versions.Of(outcome.Version);
        return new V1.TransactResponse { Committed = done };
    }

    private static V1.TransactResponse Say(TxOutcome.InDoubt outcome, string transaction) => new()
    {
        InDoubt = new V1.InDoubt { Transaction = transaction, Message = outcome.Message },
    };

    private static V1.TransactResponse Say(TxOutcome.Aborted outcome, string? message)
    {
        var aborted = new V1.Aborted
        {
            Reason = outcome.Reason switch
            {
                AbortReason.Conflict => V1.Aborted.Types.Reason.Conflict,
                AbortReason.NotWritten => V1.Aborted.Types.Reason.NotWritten,
                _ => V1.Aborted.Types.Reason.TooOld,
            },
            Object = outcome.ObjectName,
            Message = message ?? $"Nothing of the transaction took effect ({outcome.Reason}).",
        };
        if (outcome.Reason != AbortReason.NotWritten)
            aborted.Position = (ulong)outcome.ConflictingWrite.Position.Offset;
        if (KeyText.TryRead(outcome.Key, out var key)) aborted.Key = key;
        return new V1.TransactResponse { Aborted = aborted };
    }
}
