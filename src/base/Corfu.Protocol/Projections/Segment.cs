namespace Corfu.Protocol;

/// <summary>A half-open range of positions and the chains that hold it. <see cref="Until"/> is null for the open,
/// active one.</summary>
public sealed record Segment(LogPosition From, LogPosition? Until, ImmutableArray<Chain> Chains)
{
    /// <summary>The chain index is the position modulo the chains, never relative to the segment's start, so that
    /// merging neighbours moves no entry.</summary>
    public Chain ChainOf(LogPosition position)
    {
        if (Planted.Is("chain-within-its-segment"))
            return Chains[(int)(Math.Max(0, position.Offset - From.Offset) % Chains.Length)];
        return Chains[(int)(position.Offset % Chains.Length)];
    }

    public bool Equals(Segment? other) =>
        other is not null && From == other.From && Nullable.Equals(Until, other.Until)
        && Chains.AsSpan().SequenceEqual(other.Chains.AsSpan());

    public override int GetHashCode() => HashCode.Combine(From, Until, Chains.Length);
}

/// <summary>An ordered list of replicas, written head to tail. The full replicas come first.</summary>
public sealed class Chain(ImmutableArray<Replica> replicas) : IEquatable<Chain>
{
    public ImmutableArray<Replica> Replicas { get; } = replicas;

    /// <summary>How many of the replicas, from the head, are full.</summary>
    public int FullCount { get; } = replicas.Count(r => !r.Joining);

    /// <summary>The full replicas, head to tail.</summary>
    public IEnumerable<NodeId> FullUnits => Replicas.Take(FullCount).Select(r => r.Unit);

    public NodeId Head => Replicas[0].Unit;

    /// <summary>The last full replica: what it holds is committed.</summary>
    public NodeId Tail => Replicas[FullCount - 1].Unit;

    public bool Equals(Chain? other) => other is not null && Replicas.AsSpan().SequenceEqual(other.Replicas.AsSpan());

    public override bool Equals(object? obj) => Equals(obj as Chain);

    public override int GetHashCode() =>
        HashCode.Combine(Replicas.Length, Replicas.Length == 0 ? default : Replicas[0]);
}

/// <summary>A unit's place in a chain. A joining replica is written by fills, completes and trims but is never read. It
/// is never head, tail, survivor, confirmer or a source of copies, and stands behind the full ones.</summary>
public readonly record struct Replica(NodeId Unit, bool Joining = false);
