namespace Corfu.Store;

/// <summary>Conditions, and what is done if all of them hold, or if not. One step at one revision: it never
/// aborts. Immutable.</summary>
/// <example><c>StoreTransaction.Empty.If(StoreCondition.Version("a", Relation.Equal, 0)).Then(new StorePut("a", value))
/// .Else(new StoreGet("a"))</c></example>
/// <remarks>Conditions are of the state before the transaction, also those of nested ones. Operations see what the
/// ones before them did. A branch puts a key once, and puts none in a range that it deletes.</remarks>
public sealed record StoreTransaction
{
    private StoreTransaction()
    {
    }

    public static StoreTransaction Empty { get; } = new();

    public ImmutableArray<StoreCondition> Conditions { get; private init; } = [];

    public ImmutableArray<StoreOperation> Success { get; private init; } = [];

    public ImmutableArray<StoreOperation> Failure { get; private init; } = [];

    public StoreTransaction If(params ReadOnlySpan<StoreCondition> conditions) =>
        this with { Conditions = Conditions.AddRange(conditions) };

    public StoreTransaction Then(params ReadOnlySpan<StoreOperation> operations) =>
        this with { Success = Success.AddRange(operations) };

    public StoreTransaction Else(params ReadOnlySpan<StoreOperation> operations) =>
        this with { Failure = Failure.AddRange(operations) };
}

/// <summary>Relation of what the store has to what a condition names.</summary>
public enum Relation
{
    Equal = 0,
    Greater = 1,
    Less = 2,
    NotEqual = 3,
}

/// <summary>A condition of every key in a range. A key that is absent has the numbers 0 and no value; a range without
/// keys counts as one absent key.</summary>
public abstract record StoreCondition
{
    private protected StoreCondition(StoreRange range, Relation relation)
    {
        if (!Enum.IsDefined(relation)) throw new ArgumentOutOfRangeException(nameof(relation), relation, null);
        (Range, Relation) = (range, relation);
    }

    public StoreRange Range { get; }

    public Relation Relation { get; }

    /// <summary>The revision of the newest put.</summary>
    public static StoreCondition Revision(StoreRange range, Relation relation, long revision) =>
        new NumberCondition(range, NumberOf.Revision, relation, revision);

    /// <summary>The revision of the put that made the key.</summary>
    public static StoreCondition Created(StoreRange range, Relation relation, long revision) =>
        new NumberCondition(range, NumberOf.Created, relation, revision);

    /// <summary>The number of puts since the key was made.</summary>
    public static StoreCondition Version(StoreRange range, Relation relation, long version) =>
        new NumberCondition(range, NumberOf.Version, relation, version);

    public static StoreCondition Lease(StoreRange range, Relation relation, long lease) =>
        new NumberCondition(range, NumberOf.Lease, relation, lease);

    /// <summary>Values in the order of bytes. The values are read before the transaction is sent, and it is sent again
    /// if they have changed then: at most 16 times.</summary>
    public static StoreCondition Value(StoreRange range, Relation relation, ReadOnlyMemory<byte> value) =>
        new ValueCondition(range, relation, value);
}

/// <summary>Numbers of a key. Part of the format.</summary>
internal enum NumberOf
{
    Revision = 1,
    Created = 2,
    Version = 3,
    Lease = 4,
}

internal sealed record NumberCondition(StoreRange Keys, NumberOf Number, Relation Holds, long Operand)
    : StoreCondition(Keys, Holds);

internal sealed record ValueCondition(StoreRange Keys, Relation Holds, ReadOnlyMemory<byte> Operand)
    : StoreCondition(Keys, Holds);

/// <summary>A step of a transaction.</summary>
public abstract record StoreOperation
{
    private protected StoreOperation()
    {
    }
}

/// <summary>Makes or replaces a key.</summary>
/// <param name="Lease">The key ends with this lease; 0: with none.</param>
public sealed record StorePut(StoreKey Key, ReadOnlyMemory<byte> Value, long Lease = 0) : StoreOperation
{
    /// <summary>The key keeps its value, and must be there; <see cref="Value"/> does not count.</summary>
    public bool KeepsValue { get; init; }

    /// <summary>The key keeps its lease, and must be there; <see cref="Lease"/> does not count.</summary>
    public bool KeepsLease { get; init; }

    /// <summary>The answer has the entry before.</summary>
    public bool Previous { get; init; }
}

/// <summary>Deletes the keys of a range.</summary>
public sealed record StoreDelete(StoreRange Range) : StoreOperation
{
    /// <summary>The answer has the entries that were deleted.</summary>
    public bool Previous { get; init; }
}

/// <summary>Reads a range.</summary>
public sealed record StoreGet(StoreRange Range, RangeOptions? Options = null) : StoreOperation
{
    /// <summary>Null: what the operations before have left.</summary>
    public long? Revision { get; init; }
}

/// <summary>A transaction within the transaction.</summary>
public sealed record StoreNested(StoreTransaction Transaction) : StoreOperation;

/// <summary>Outcome of a transaction.</summary>
/// <param name="Succeeded">Whether the conditions held.</param>
/// <param name="Revision">The store's, after the transaction: a new one if a key has changed.</param>
/// <param name="Answers">The answer to each operation of the branch that was taken.</param>
public sealed record StoreResult(bool Succeeded, long Revision, ImmutableArray<StoreAnswer> Answers);

/// <summary>Answer to an operation of a transaction.</summary>
public abstract record StoreAnswer
{
    private protected StoreAnswer()
    {
    }
}

/// <param name="Previous">The entry before; null: there was none, or it was not asked for.</param>
public sealed record PutAnswer(StoreEntry? Previous) : StoreAnswer;

/// <param name="Count">Keys that were deleted.</param>
/// <param name="Previous">The entries that were deleted, if they were asked for.</param>
public sealed record DeleteAnswer(long Count, ImmutableArray<StoreEntry> Previous) : StoreAnswer;

public sealed record GetAnswer(StoreEntries Found) : StoreAnswer;

public sealed record NestedAnswer(bool Succeeded, ImmutableArray<StoreAnswer> Answers) : StoreAnswer;
