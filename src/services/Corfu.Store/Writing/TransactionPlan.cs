using Corfu.Store.Records;

namespace Corfu.Store.Writing;

/// <summary>A transaction as it is sent: checked, with its values apart.</summary>
internal sealed class TransactionPlan
{
    /// <summary>Conditions and operations of a transaction, nested ones included.</summary>
    public const int MostParts = 4096;

    private readonly ImmutableArray<ReadOnlyMemory<byte>>.Builder _values =
        ImmutableArray.CreateBuilder<ReadOnlyMemory<byte>>();

    private readonly ImmutableArray<ValueCondition>.Builder _conditions =
        ImmutableArray.CreateBuilder<ValueCondition>();

    private readonly StoreTransaction _transaction;
    private int _parts;

    private TransactionPlan(StoreTransaction transaction) => _transaction = transaction;

    public ImmutableArray<ReadOnlyMemory<byte>> Values { get; private set; }

    public ImmutableArray<ValueCondition> ValueConditions { get; private set; }

    /// <summary>Bytes of the keys that it names.</summary>
    public long KeyBytes { get; private set; }

    /// <exception cref="ArgumentException">A branch changes a key twice, or a lease is below 0.</exception>
    /// <exception cref="StoreTooLargeException">The transaction has too many parts, or nests too deep.</exception>
    public static TransactionPlan Of(StoreTransaction transaction)
    {
        var plan = new TransactionPlan(transaction);
        plan.Take(transaction, RecordCodec.MaxDepth);
        plan.Values = plan._values.DrainToImmutable();
        plan.ValueConditions = plan._conditions.DrainToImmutable();
        return plan;
    }

    /// <param name="holds">The value conditions, as decided by what was read.</param>
    public Branches ToBranches(IReadOnlyDictionary<ValueCondition, bool> holds)
    {
        var next = 0;
        return ToBranches(_transaction, holds, ref next);
    }

    private static Branches ToBranches(
        StoreTransaction transaction, IReadOnlyDictionary<ValueCondition, bool> holds, ref int next) => new(
        [.. transaction.Conditions.Select(condition => ToCondition(condition, holds))],
        ToSteps(transaction.Success, holds, ref next), ToSteps(transaction.Failure, holds, ref next));

    private static Condition ToCondition(
        StoreCondition condition, IReadOnlyDictionary<ValueCondition, bool> holds) => condition switch
        {
            NumberCondition number =>
                new Condition(null, number.Range, number.Number, number.Relation, number.Operand),
            ValueCondition value => new Condition(holds[value], default, default, default, 0),
            _ => throw new ArgumentException($"No condition is a {condition.GetType().Name}"),
        };

    private static ImmutableArray<Step> ToSteps(ImmutableArray<StoreOperation> operations,
        IReadOnlyDictionary<ValueCondition, bool> holds, ref int next)
    {
        var steps = ImmutableArray.CreateBuilder<Step>(operations.Length);
        foreach (var operation in operations)
        {
            steps.Add(operation switch
            {
                StorePut put => new PutStep(
                    put.Key, put.KeepsValue ? null : next++, put.KeepsLease ? null : put.Lease),
                StoreDelete delete => new DeleteStep(delete.Range),
                StoreGet get => new GetStep(get.Revision),
                StoreNested nested => new NestedStep(ToBranches(nested.Transaction, holds, ref next)),
                _ => throw new ArgumentException($"No operation is a {operation.GetType().Name}"),
            });
        }

        return steps.MoveToImmutable();
    }

    private Changes Take(StoreTransaction transaction, int depth)
    {
        if (depth < 0) throw new StoreTooLargeException($"A transaction nests deeper than {RecordCodec.MaxDepth}.");
        _parts += transaction.Conditions.Length + transaction.Success.Length + transaction.Failure.Length;
        if (_parts > MostParts) throw new StoreTooLargeException($"A transaction has more than {MostParts} parts.");
        _conditions.AddRange(transaction.Conditions.OfType<ValueCondition>());
        KeyBytes += transaction.Conditions.Sum(static condition =>
            (long)condition.Range.From.Length + (condition.Range.To?.Length ?? 0));
        var success = Take(transaction.Success, depth);
        var failure = Take(transaction.Failure, depth);
        // Only one of both runs.
        success.Keys.UnionWith(failure.Keys);
        success.Ranges.AddRange(failure.Ranges);
        return success;
    }

    // A key has one version a revision.
    private Changes Take(ImmutableArray<StoreOperation> operations, int depth)
    {
        var changes = new Changes([], []);
        foreach (var operation in operations)
        {
            switch (operation)
            {
                case StorePut put:
                    if (put.Lease < 0) throw new ArgumentException($"No lease has the number {put.Lease}");
                    if (!put.KeepsValue) _values.Add(put.Value);
                    KeyBytes += put.Key.Length;
                    changes.Put(put.Key);
                    break;
                case StoreDelete delete:
                    KeyBytes += delete.Range.From.Length + (delete.Range.To?.Length ?? 0);
                    changes.Delete(delete.Range);
                    break;
                case StoreNested nested:
                    changes.Nest(Take(nested.Transaction, depth - 1));
                    break;
            }
        }

        return changes;
    }

    private sealed record Changes(HashSet<StoreKey> Keys, List<StoreRange> Ranges)
    {
        public void Put(StoreKey key)
        {
            if (Ranges.Exists(range => range.Contains(key))) throw PutAndDeleted(key);
            if (!Keys.Add(key)) throw new ArgumentException($"A branch puts the key '{key}' twice");
        }

        public void Delete(StoreRange range)
        {
            foreach (var key in Keys)
            {
                if (range.Contains(key)) throw PutAndDeleted(key);
            }

            Ranges.Add(range);
        }

        // Branches of a nested transaction exclude each other: one may put what the other deletes.
        public void Nest(Changes nested)
        {
            foreach (var range in nested.Ranges)
            {
                foreach (var key in Keys)
                {
                    if (range.Contains(key)) throw PutAndDeleted(key);
                }
            }

            foreach (var key in nested.Keys) Put(key);
            Ranges.AddRange(nested.Ranges);
        }

        private static ArgumentException PutAndDeleted(StoreKey key) =>
            new($"A branch puts and deletes the key '{key}'");
    }
}
