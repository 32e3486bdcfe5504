using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <summary>
/// Membership of an entry in one stream, with the stream's previous positions, newest first (Tango 5). Fewer than
/// <see cref="MaxBackpointers"/> backpointers mean that the stream has no older entries than those.
/// </summary>
public sealed record StreamHeader(StreamId Stream, ImmutableArray<LogPosition> Backpointers)
{
    /// <summary>K of Tango 5: how many previous positions the sequencer remembers per stream.</summary>
    public const int MaxBackpointers = 4;

    public bool Equals(StreamHeader? other) =>
        other is not null && Stream == other.Stream && Backpointers.AsSpan().SequenceEqual(other.Backpointers.AsSpan());

    public override int GetHashCode() => HashCode.Combine(Stream, Backpointers.Length);
}
