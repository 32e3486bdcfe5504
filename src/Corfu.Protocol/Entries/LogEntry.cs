using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <summary>One decoded entry of the log; the byte layout is <see cref="EntryCodec"/>'s.</summary>
/// <param name="Position">Where it stands, with the epoch in which it was written.</param>
/// <param name="WriterTime">The writer's UTC clock: advisory, never used for ordering.</param>
/// <param name="Payload">Empty for junk and for entries read with <see cref="ReadDetail.Headers"/>.</param>
public sealed record LogEntry(
    LogPosition Position,
    EntryOrigin Origin,
    EntryKind Kind,
    DateTimeOffset WriterTime,
    ImmutableArray<StreamHeader> Streams,
    ReadOnlyMemory<byte> Payload)
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
