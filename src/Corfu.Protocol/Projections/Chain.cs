using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <summary>An ordered list of replicas, written head to tail. The full replicas come first.</summary>
public sealed class Chain(ImmutableArray<Replica> replicas) : IEquatable<Chain>
{
    public ImmutableArray<Replica> Replicas { get; } = replicas;

    /// <summary>How many of the replicas, from the head, are full.</summary>
    public int FullCount { get; } = replicas.Count(r => !r.Joining);

    public NodeId Head => Replicas[0].Unit;

    /// <summary>The last full replica: what it holds is committed.</summary>
    public NodeId Tail => Replicas[FullCount - 1].Unit;

    public bool Equals(Chain? other) => other is not null && Replicas.AsSpan().SequenceEqual(other.Replicas.AsSpan());

    public override bool Equals(object? obj) => Equals(obj as Chain);

    public override int GetHashCode() => HashCode.Combine(Replicas.Length, Replicas.Length == 0 ? default : Replicas[0]);
}
