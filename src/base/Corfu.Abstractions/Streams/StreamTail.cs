namespace Corfu;

/// <summary>A stream's last positions, newest first, at most <see cref="StreamHeader.MaxBackpointers"/>. Fewer mean
/// that the stream has no more.</summary>
public sealed record StreamTail(StreamId Stream, ImmutableArray<LogPosition> Positions)
{
    public bool Equals(StreamTail? other) =>
        other is not null && Stream == other.Stream && Positions.AsSpan().SequenceEqual(other.Positions.AsSpan());

    public override int GetHashCode() => HashCode.Combine(Stream, Positions.Length);
}
