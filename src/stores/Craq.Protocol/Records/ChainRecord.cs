namespace Craq.Protocol;

/// <summary>A write of a chain, the same bytes in every member's log and on the wire (<see cref="RecordCodec"/>).
/// Immutable once the head has assigned its version.</summary>
/// <param name="Previous">The record before it in the chain: a member takes a record behind this one only.</param>
/// <param name="Origins">The requests that it carries out; more than one for a batch on one key. Empty for
/// <see cref="ChainRecordKind.Begin"/>.</param>
/// <param name="Writes">The objects that it writes, with the values that the head evaluated.</param>
public sealed record ChainRecord(ChainId Chain, ChainRecordKind Kind, ObjectVersion Version, ObjectVersion Previous,
    ImmutableArray<RecordOrigin> Origins, ImmutableArray<ObjectWrite> Writes)
{
    /// <summary>The transaction whose part it locks, commits or unlocks; empty outside transactions.</summary>
    public Guid Transaction { get; init; }

    /// <summary>The keys that the part of a Lock reads, compares and writes.</summary>
    public ImmutableArray<ObjectKey> Locked { get; init; } = [];

    public override string ToString() => $"{Version} {Kind} behind {Previous}";
}

/// <summary>Numbers are part of the format.</summary>
public enum ChainRecordKind : byte
{
    None = 0,

    /// <summary>The first record of an epoch: committed, it opens the epoch.</summary>
    Begin = 1,

    Write = 2,

    /// <summary>All objects with versions below it are absent.</summary>
    Clear = 3,

    /// <summary>A part of a transaction holds its keys; <see cref="ChainRecord.Writes"/> is what it will write.
    /// </summary>
    Lock = 4,

    /// <summary>The transaction was aborted.</summary>
    Unlock = 5,
}

/// <summary>A request that a record carries out.</summary>
/// <param name="Result">The answer's result as it was sent (<see cref="MutateResult"/>), so that a repeated request
/// gets the same one. Empty: there is nothing besides the version.</param>
public readonly record struct RecordOrigin(WriteId Id, ReadOnlyMemory<byte> Result);

/// <summary>The new state of one object.</summary>
/// <param name="Flags">The user's, uninterpreted.</param>
/// <param name="Expiry">Unix time in milliseconds from which the object reads as absent; 0: never.</param>
/// <param name="Value">Null: the object is deleted.</param>
public readonly record struct ObjectWrite(ObjectKey Key, uint Flags, long Expiry, ReadOnlyMemory<byte>? Value)
{
    public bool IsDelete => Value is null;
}
