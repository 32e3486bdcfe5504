namespace Craq.Protocol;

/// <summary>The hashes from the first to the last, both included.</summary>
public readonly record struct HashRange(KeyHash First, KeyHash Last)
{
    internal void Write(ref WireWriter w)
    {
        First.Write(ref w);
        Last.Write(ref w);
    }

    internal static HashRange Read(ref WireReader r) => new(KeyHash.Read(ref r), KeyHash.Read(ref r));
}

/// <summary>The objects of a range at or below the request's base, in the order of their hashes.</summary>
/// <param name="Next">The hash at which the list was cut, for the next request; null: it has the whole range.</param>
public sealed record ContentList(ImmutableArray<ObjectContent> Objects, KeyHash? Next)
{
    internal void Write(ref WireWriter w)
    {
        w.Array(Objects, static (ref w, content) =>
        {
            content.Hash.Write(ref w);
            w.Version(content.Version);
            w.UInt64(content.Check);
        });
        w.Bool(Next is not null);
        Next?.Write(ref w);
    }

    internal static ContentList Read(ref WireReader r) => new(
        r.Array(32, static (ref r) => new ObjectContent(KeyHash.Read(ref r), r.Version(), r.UInt64())),
        r.Bool() ? KeyHash.Read(ref r) : null);
}

/// <param name="Check">A digest of key, flags, expiry and value, the same at every node;
/// <see cref="Damaged"/>: the node cannot read them.</param>
public readonly record struct ObjectContent(KeyHash Hash, ObjectVersion Version, ulong Check)
{
    public const ulong Damaged = 0;

    public bool IsDamaged => Check == Damaged;
}
