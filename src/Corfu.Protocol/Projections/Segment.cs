using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <summary>A half-open range of positions and the chains that hold it. <see cref="Until"/> is null for the open, active one.</summary>
public sealed record Segment(LogPosition From, LogPosition? Until, ImmutableArray<Chain> Chains)
{
    public bool Contains(LogPosition position) => position >= From && (Until is null || position < Until.Value);

    /// <summary>R1: the chain index is the position modulo the chains, never relative to the segment's start, so that merging neighbours moves nothing.</summary>
    public Chain ChainOf(LogPosition position)
    {
#if PLANTED
        if (Planted.Is("chain-within-its-segment")) return Chains[(int)(Math.Max(0, position.Offset - From.Offset) % Chains.Length)];
#endif
        return Chains[(int)(position.Offset % Chains.Length)];
    }

    public bool Equals(Segment? other) =>
        other is not null && From == other.From && Nullable.Equals(Until, other.Until) && Chains.AsSpan().SequenceEqual(other.Chains.AsSpan());

    public override int GetHashCode() => HashCode.Combine(From, Until, Chains.Length);
}
