using Google.Protobuf;
using Tango;
using Tango.Collections;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary>A transaction's comparisons and operations, with the objects that they name open. It may run several
/// times.</summary>
internal sealed class TransactionPlan
{
    private readonly V1.TransactRequest _request;
    private readonly Dictionary<string, TangoObject> _objects;

    private TransactionPlan(V1.TransactRequest request, Dictionary<string, TangoObject> objects) =>
        (_request, _objects) = (request, objects);

    /// <exception cref="RequestException">The request makes no sense.</exception>
    public static async Task<TransactionPlan> MakeAsync(
        V1.TransactRequest request, OpenObjects objects, int maxOperations, CancellationToken cancellationToken)
    {
        var count = request.Compare.Count + request.OnSuccess.Count + request.OnFailure.Count;
        if (count == 0) throw new RequestException("A transaction has at least one comparison or operation.");
        if (count > maxOperations)
            throw new RequestException($"{count} comparisons and operations; one transaction has {maxOperations}.");
        // A transaction begins with its objects open: opening one is no part of it.
        var open = new Dictionary<string, TangoObject>(StringComparer.Ordinal);
        var types = new Dictionary<string, V1.ObjectType>(StringComparer.Ordinal);
        foreach (var compare in request.Compare) await OpenAsync(compare.Object, TypeOf(compare));
        foreach (var operation in request.OnSuccess.Concat(request.OnFailure))
            await OpenAsync(operation.Object, TypeOf(operation));
        return new TransactionPlan(request, open);

        async ValueTask OpenAsync(string name, V1.ObjectType type)
        {
            if (types.TryAdd(name, type))
            {
                open[name] = type switch
                {
                    V1.ObjectType.Lock => await objects.GetAsync<TangoLock>(name, cancellationToken),
                    V1.ObjectType.WorkQueue => await objects.GetAsync<TangoWorkQueue<byte[]>>(name, cancellationToken),
                    _ => await objects.GetAsync<TangoDictionary<string, byte[]>>(name, cancellationToken),
                };
            }
            else if (types[name] != type)
            {
                throw new RequestException($"'{name}' is used as objects of two types.");
            }
        }
    }

    /// <summary>In a transaction that flows with the caller.</summary>
    /// <exception cref="TangoRejectedException">An object refuses an operation.</exception>
    /// <exception cref="AnswerTooLargeException">The results take more than the budget.</exception>
    public async ValueTask<V1.Committed> RunAsync(
        TangoTransaction transaction, AnswerBudget budget, CancellationToken cancellationToken)
    {
        var outcome = new V1.Committed { Succeeded = true };
        foreach (var compare in _request.Compare)
        {
            outcome.Succeeded = compare.TargetCase == V1.Compare.TargetOneofCase.LockHeld
                ? await IsHeldAsync(compare, cancellationToken)
                : await HoldsAsync(transaction, compare, cancellationToken);
            if (!outcome.Succeeded) break;
        }

        foreach (var operation in outcome.Succeeded ? _request.OnSuccess : _request.OnFailure)
        {
            var result = await RunAsync(operation, cancellationToken);
            budget.Take(result.CalculateSize());
            outcome.Results.Add(result);
        }

        return outcome;
    }

    private static V1.ObjectType TypeOf(V1.Compare compare) => compare.TargetCase switch
    {
        V1.Compare.TargetOneofCase.LockHeld => V1.ObjectType.Lock,
        V1.Compare.TargetOneofCase.Key when compare.Key.Condition is { } condition
            && condition.ConditionCase != V1.Condition.ConditionOneofCase.None => V1.ObjectType.Dictionary,
        V1.Compare.TargetOneofCase.Key => throw new RequestException("compare: key has no condition."),
        _ => throw new RequestException("compare: neither key nor lock_held."),
    };

    private static V1.ObjectType TypeOf(V1.Operation operation) => operation.OperationCase switch
    {
        V1.Operation.OperationOneofCase.None => throw new RequestException("An operation is empty."),
        V1.Operation.OperationOneofCase.Enqueue or V1.Operation.OperationOneofCase.Complete =>
            V1.ObjectType.WorkQueue,
        _ => V1.ObjectType.Dictionary,
    };

    private async ValueTask<bool> IsHeldAsync(V1.Compare compare, CancellationToken cancellationToken)
    {
        try
        {
            await ((TangoLock)_objects[compare.Object]).RequireHeldAsync(compare.LockHeld, cancellationToken);
            return true;
        }
        catch (TangoLeaseLostException)
        {
            return false;
        }
    }

    private async ValueTask<bool> HoldsAsync(
        TangoTransaction transaction, V1.Compare compare, CancellationToken cancellationToken)
    {
        var dictionary = Dictionary(compare.Object);
        var (key, condition) = (compare.Key.Key, compare.Key.Condition);
        if (condition.ConditionCase == V1.Condition.ConditionOneofCase.UnchangedSince)
            return await transaction.IsUnchangedAsync(
                dictionary, key, Versions.Of(condition.UnchangedSince), cancellationToken);
        var found = await dictionary.TryGetAsync(key, cancellationToken);
        return condition.ConditionCase == V1.Condition.ConditionOneofCase.Exists
            ? found.TryGet(out _) == condition.Exists
            : found.TryGet(out var value) && condition.Value.Span.SequenceEqual(value);
    }

    private async ValueTask<V1.OperationResult> RunAsync(
        V1.Operation operation, CancellationToken cancellationToken)
    {
        var result = new V1.OperationResult();
        switch (operation.OperationCase)
        {
            case V1.Operation.OperationOneofCase.Get:
                var found = await Dictionary(operation.Object).TryGetAsync(operation.Get.Key, cancellationToken);
                if (found.TryGet(out var value)) result.Value = Bytes.Of(value);
                break;
            case V1.Operation.OperationOneofCase.Set:
                await Dictionary(operation.Object).SetAsync(
                    operation.Set.Key, operation.Set.Value.ToByteArray(), cancellationToken);
                break;
            case V1.Operation.OperationOneofCase.Remove:
                result.Removed = await Dictionary(operation.Object)
                    .RemoveAsync(operation.Remove.Key, cancellationToken);
                break;
            case V1.Operation.OperationOneofCase.Enqueue:
                await Queue(operation.Object).EnqueueAsync(
                    operation.Enqueue.Value.ToByteArray(), cancellationToken);
                break;
            case V1.Operation.OperationOneofCase.Complete:
                await Queue(operation.Object).CompleteAsync(
                    operation.Complete.Item, operation.Complete.Token, cancellationToken);
                break;
        }

        return result;
    }

    private TangoDictionary<string, byte[]> Dictionary(string name) =>
        (TangoDictionary<string, byte[]>)_objects[name];

    private TangoWorkQueue<byte[]> Queue(string name) => (TangoWorkQueue<byte[]>)_objects[name];
}

/// <summary>Values, as messages have them.</summary>
internal static class Bytes
{
    /// <summary>Nothing changes a value that was read.</summary>
    public static ByteString Of(byte[]? value) => UnsafeByteOperations.UnsafeWrap(value);
}
