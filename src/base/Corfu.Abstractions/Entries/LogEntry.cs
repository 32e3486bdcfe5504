namespace Corfu;

/// <summary>A decoded entry of the log.</summary>
/// <param name="Position">The entry's position, with the epoch in which it was written.</param>
/// <param name="WriterTime">The writer's UTC clock: advisory, never used for ordering.</param>
/// <param name="Payload">Empty for junk and for entries read with <see cref="ReadDetail.Headers"/>.</param>
public sealed record LogEntry(LogPosition Position, EntryOrigin Origin, EntryKind Kind, DateTimeOffset WriterTime,
    ImmutableArray<StreamHeader> Streams, ReadOnlyMemory<byte> Payload)
{
    public bool IsJunk => Kind == EntryKind.Junk;

    public bool TryGetStream(StreamId stream, out StreamHeader header)
    {
        foreach (var candidate in Streams)
        {
            if (candidate.Stream != stream) continue;
            header = candidate;
            return true;
        }

        header = null!;
        return false;
    }
}

/// <summary>The kind of an entry's content. Numbers are part of the entry format.</summary>
public enum EntryKind : byte
{
    Data = 1,

    /// <summary>Closes a hole (CORFU 2.1: fill).</summary>
    Junk = 2,
}

/// <summary>Membership of an entry in one stream, with the stream's previous positions, newest first (Tango 5); all of
/// them if there are fewer than <see cref="MaxBackpointers"/>.</summary>
public sealed record StreamHeader(StreamId Stream, ImmutableArray<LogPosition> Backpointers)
{
    /// <summary>K of Tango 5: how many previous positions the sequencer remembers per stream.</summary>
    public const int MaxBackpointers = 4;

    public bool Equals(StreamHeader? other) =>
        other is not null && Stream == other.Stream && Backpointers.AsSpan().SequenceEqual(other.Backpointers.AsSpan());

    public override int GetHashCode() => HashCode.Combine(Stream, Backpointers.Length);
}

/// <summary>A stream's last positions, newest first, at most <see cref="StreamHeader.MaxBackpointers"/>. Fewer mean
/// that the stream has no more.</summary>
public sealed record StreamTail(StreamId Stream, ImmutableArray<LogPosition> Positions)
{
    public bool Equals(StreamTail? other) =>
        other is not null && Stream == other.Stream && Positions.AsSpan().SequenceEqual(other.Positions.AsSpan());

    public override int GetHashCode() => HashCode.Combine(Stream, Positions.Length);
}

/// <summary>The writer of an entry and that writer's own sequence number. "Already written" means "my append is in"
/// only when both match.</summary>
public readonly record struct EntryOrigin(WriterId Writer, long Sequence)
{
    public override string ToString() => $"{Writer}#{Sequence}";
}

/// <summary>Random per client incarnation, so that a restarted client is never mistaken for its predecessor.</summary>
public readonly record struct WriterId(Guid Value)
{
    public override string ToString() => Value.ToString("N")[..8];
}
