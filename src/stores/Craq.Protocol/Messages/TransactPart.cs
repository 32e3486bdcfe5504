namespace Craq.Protocol;

/// <summary>The part of a transaction that one chain carries out: a mutation of it.</summary>
/// <param name="NotBefore">A mark that the client knew before it first sent the transaction, as in
/// <see cref="MutateRequest"/>.</param>
public sealed record TransactPart(ChainId Chain, ObjectVersion NotBefore, ImmutableArray<ObjectCompare> Compares,
    ImmutableArray<ObjectKey> Reads, ImmutableArray<ObjectOperation> Operations)
{
    internal const int SmallestSize = 16 + 8 + 12;

    public PartId Id => new(Chain, NotBefore);

    internal void Write(ref WireWriter w)
    {
        w.Guid(Chain.Value);
        w.Version(NotBefore);
        w.Array(Compares, static (ref w, compare) => compare.Write(ref w));
        w.Array(Reads, static (ref w, key) => w.Key(key));
        w.Array(Operations, static (ref w, operation) => operation.Write(ref w));
    }

    internal static TransactPart Read(ref WireReader r) => new(new ChainId(r.Guid()), r.Version(),
        r.Array(ObjectCompare.SmallestSize, ObjectCompare.Read, MutateRequest.MaxItems),
        r.Array(5, static (ref r) => r.Key(), MutateRequest.MaxItems),
        r.Array(ObjectOperation.SmallestSize, ObjectOperation.Read, MutateRequest.MaxItems));
}

/// <summary>Names a part within its transaction.</summary>
public readonly record struct PartId(ChainId Chain, ObjectVersion NotBefore)
{
    public const int Size = 16 + 8;

    public static void Write(ref WireWriter w, PartId part)
    {
        w.Guid(part.Chain.Value);
        w.Version(part.NotBefore);
    }

    public static PartId Read(ref WireReader r) => new(new ChainId(r.Guid()), r.Version());
}

/// <summary>A part at its chain. Numbers are part of the wire format and of records.</summary>
public enum PartState : byte
{
    None = 0,

    /// <summary>The chain has voted yes: the part's keys are locked until the outcome is known.</summary>
    Prepared = 1,

    /// <summary>The part's writes are in the chain. Final.</summary>
    Committed = 2,

    /// <summary>The part writes nothing, now and later. Final.</summary>
    Aborted = 3,
}
