using Grpc.Core;
using Microsoft.Extensions.Options;
using Tango;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary>Runs transactions that callers describe, and reports their outcomes.</summary>
internal sealed class TransactionRunner(
    OpenObjects objects, RememberedTransactions remembered, IOptions<CorfuGrpcOptions> options, TimeProvider time)
{
    public async Task<V1.TransactResponse> RunAsync(V1.TransactRequest request, ServerCallContext context)
    {
        var owner = Callers.OwnerOf(context);
        var key = RequestKey.Of(owner, request.RequestId);
        if (key is { } named) remembered.Begin(named);
        var isSettled = false;
        try
        {
            var response = await RunUntilDeadlineAsync(request, (owner, key), context);
            isSettled = true;
            if (key is not null && response.InDoubt is null) remembered.End(key.Value, response);
            return response;
        }
        finally
        {
            // An exception means that no record was sent.
            if (!isSettled && key is not null) remembered.Withdraw(key.Value);
        }
    }

    /// <summary>A single write, of one object.</summary>
    /// <exception cref="TransactionAbortedException">The write lost to others too often.</exception>
    /// <exception cref="NotWrittenException">The deadline came near before the write was sent.</exception>
    /// <exception cref="TransactionInDoubtException">The outcome is not known.</exception>
    public async Task<V1.Committed> WriteAsync(V1.TransactRequest request, ServerCallContext context)
    {
        var outcome = await RunAsync(request, context);
        return outcome.OutcomeCase switch
        {
            V1.TransactResponse.OutcomeOneofCase.Committed => outcome.Committed,
            V1.TransactResponse.OutcomeOneofCase.InDoubt => throw new TransactionInDoubtException(outcome.InDoubt),
            _ => throw (outcome.Aborted.Reason == V1.Aborted.Types.Reason.NotWritten
                ? new NotWrittenException(outcome.Aborted.Message)
                : new TransactionAbortedException(outcome.Aborted)),
        };
    }

    /// <exception cref="RequestNotFoundException">The request is not remembered.</exception>
    public async Task<V1.ResolveResponse> ResolveAsync(string id, ServerCallContext context)
    {
        var key = RequestKey.Of(Callers.OwnerOf(context), id) ?? throw new RequestException("request_id is missing.");
        var known = await remembered.GetAsync(key, context.CancellationToken);
        if (known.InDoubt is not { } doubt) return known.Response;
        var runtime = await objects.RuntimeAsync(context.CancellationToken);
        var outcome = await runtime.ResolveAsync(doubt, context.CancellationToken);
        V1.ResolveResponse response;
        switch (outcome)
        {
            case TxOutcome.InDoubt again:
                return new V1.ResolveResponse { InDoubt = Say(again, id) };
            case TxOutcome.Committed committed:
                var done = new V1.Committed { Succeeded = known.Succeeded, Version = Versions.Of(committed.Version) };
                response = new V1.ResolveResponse { Committed = done };
                break;
            case TxOutcome.Aborted aborted:
                response = new V1.ResolveResponse { Aborted = Say(aborted, null) };
                break;
            default:
                throw new InvalidOperationException($"A transaction was resolved as {outcome.GetType().Name}");
        }

        remembered.Settle(key, response);
        return response;
    }

    /// <summary>Ends a moment before the call's deadline, so that the outcome, or the id with which it is asked for,
    /// still reaches the caller.</summary>
    private async Task<V1.TransactResponse> RunUntilDeadlineAsync(
        V1.TransactRequest request, (string Owner, RequestKey? Key) id, ServerCallContext context)
    {
        using var limit = AppendLimit.Of(context, options.Value.DeadlineMargin, time);
        try
        {
            return await RunOrLookUpAnewAsync(request, id, limit.Token);
        }
        catch (OperationCanceledException)
            when (limit.Token.IsCancellationRequested && !context.CancellationToken.IsCancellationRequested)
        {
            return Say(V1.Aborted.Types.Reason.NotWritten, "The deadline came near before anything was sent.");
        }
    }

    private async Task<V1.TransactResponse> RunOrLookUpAnewAsync(
        V1.TransactRequest request, (string Owner, RequestKey? Key) id, CancellationToken cancellationToken)
    {
        try
        {
            return await RunOnceAsync(request, id, cancellationToken);
        }
        catch (TangoObjectDeletedException)
        {
            // The name may be of another object now. Nothing took effect.
            return await RunOnceAsync(request, id, cancellationToken);
        }
    }

    private async Task<V1.TransactResponse> RunOnceAsync(
        V1.TransactRequest request, (string Owner, RequestKey? Key) id, CancellationToken cancellationToken)
    {
        var runtime = await objects.RuntimeAsync(cancellationToken);
        var limits = options.Value.Tango;
        var plan = await TransactionPlan.MakeAsync(request, objects, limits.MaxOperations, cancellationToken);
        var done = new V1.Committed();
        try
        {
            var outcome = await runtime.RunTransactionAsync(
                async transaction =>
                {
                    done = await plan.RunAsync(transaction, new AnswerBudget(options.Value), cancellationToken);
                },
                new TransactionOptions { MaxAttempts = limits.MaxAttempts }, cancellationToken);
            switch (outcome)
            {
                case TxOutcome.Committed committed:
                    done.Version = Versions.Of(committed.Version);
                    return new V1.TransactResponse { Committed = done };
                case TxOutcome.InDoubt doubt:
                    var kept = remembered.Keep(id.Key, id.Owner, doubt, done.Succeeded);
                    return new V1.TransactResponse { InDoubt = Say(doubt, kept) };
                default:
                    throw new InvalidOperationException($"A transaction ended as {outcome.GetType().Name}");
            }
        }
        catch (TangoAbortedException e)
        {
            return new V1.TransactResponse { Aborted = Say(e.Outcome, e.Message) };
        }
        catch (TangoRejectedException e)
        {
            return Say(V1.Aborted.Types.Reason.Rejected, e.Reason);
        }
    }

    private static V1.InDoubt Say(TxOutcome.InDoubt outcome, string id) =>
        new() { RequestId = id, Message = outcome.Message };

    private static V1.TransactResponse Say(V1.Aborted.Types.Reason reason, string message) =>
        new() { Aborted = new V1.Aborted { Reason = reason, Message = KeyText.Cut(message) } };

    private static V1.Aborted Say(TxOutcome.Aborted outcome, string? message)
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
            Message = KeyText.Cut(message ?? $"Nothing of the transaction took effect ({outcome.Reason})."),
        };
        if (outcome.Reason != AbortReason.NotWritten)
            aborted.Position = Positions.Of(outcome.ConflictingWrite.Position);
        if (KeyText.TryRead(outcome.Key, out var key)) aborted.Key = key;
        return aborted;
    }
}
