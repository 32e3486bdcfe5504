using Corfu.Store.State;

namespace Corfu.Store.Records;

/// <summary>A record of a store, as the log has it: a call of <see cref="Index.StoreIndex"/>.</summary>
internal abstract record StoreRecord;

/// <summary>Makes the store; the first one counts.</summary>
internal sealed record ConfigureRecord(StoreSettings Settings) : StoreRecord;

/// <summary>A transaction. Values stand first, so that they are found without reading the rest.</summary>
internal sealed record TransactRecord(
    ImmutableArray<StoredValue> Values, ImmutableArray<Guard> Guards, Branches Branches) : StoreRecord;

internal sealed record MoveRecord(ImmutableArray<StoredValue> Values, ImmutableArray<ValueMove> Moves) : StoreRecord;

/// <summary>Revisions below are not readable any more. Also drops versions that no revision shows.</summary>
internal sealed record CompactRecord(long Revision) : StoreRecord;

internal sealed record PinRecord(string Name) : StoreRecord;

internal sealed record UnpinRecord(string Name) : StoreRecord;

internal sealed record RevertRecord(long Revision) : StoreRecord;

/// <param name="Id">Null: the store chooses.</param>
internal sealed record GrantRecord(long? Id, long Milliseconds, long At) : StoreRecord;

internal sealed record RenewRecord(long Id, long At) : StoreRecord;

/// <param name="Version">Null: whatever it has.</param>
internal sealed record EndLeaseRecord(long Id, long? Version) : StoreRecord;

/// <summary>A value of a record: its bytes, or where they stand.</summary>
internal readonly record struct StoredValue(ReadOnlyMemory<byte> Bytes, ValuePlace? Elsewhere)
{
    /// <param name="call">Place of the record.</param>
    /// <param name="item">Number of the value in it.</param>
    public ValuePlace PlaceIn(LogPlace call, int item) =>
        Elsewhere ?? new ValuePlace(call.Position.Offset, call.Record, item, Bytes.Length);
}

/// <summary>The writer's reading (K8): the record is decided only if the range has as many keys, and the greatest
/// revision among them, as then.</summary>
// A deletion lowers the count, and what is put later has a greater revision: equal numbers mean the same keys.
internal readonly record struct Guard(StoreRange Range, int Count, long Newest);

/// <summary>A condition as the log has it.</summary>
/// <param name="Decided">The writer has decided it, by what the guards name; else null.</param>
internal sealed record Condition(bool? Decided, StoreRange Range, NumberOf Number, Relation Relation, long Operand);

internal sealed record Branches(
    ImmutableArray<Condition> Conditions, ImmutableArray<Step> Success, ImmutableArray<Step> Failure);

internal abstract record Step;

/// <param name="Value">Number among the record's values; null: the key keeps its value.</param>
/// <param name="Lease">Null: the key keeps its lease.</param>
internal sealed record PutStep(StoreKey Key, int? Value, long? Lease) : Step;

internal sealed record DeleteStep(StoreRange Range) : Step;

/// <summary>The writer evaluates the read, on the table that stands here.</summary>
internal sealed record GetStep(long? Revision) : Step;

internal sealed record NestedStep(Branches Branches) : Step;

/// <summary>A version of a key has its value elsewhere from here on, if it still has it at the place.</summary>
internal readonly record struct ValueMove(StoreKey Key, long Revision, ValuePlace From, int Value);
