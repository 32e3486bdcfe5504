using Corfu.Grpc.Protocol.Log.V1;
using Corfu.Grpc.Protocol.V1;
using Google.Protobuf;
using Google.Protobuf.Collections;

namespace Corfu.Grpc;

/// <summary>Between the messages of corfu.log.v1 and the client's types. The contents of messages are checked
/// here.</summary>
internal static class LogMessages
{
    // Neighbouring entries often have the same writer, whose id is then not copied again.
    private static volatile LastWriter? s_lastWriter;

    /// <exception cref="RequestException">A stream is named twice, or has no name.</exception>
    public static ImmutableArray<StreamId> StreamsOf(RepeatedField<ulong> ids, RepeatedField<string> names)
    {
        if (names.Count == 0 && ids.Count <= 1) return ids.Count == 0 ? [] : [new StreamId(ids[0])];
        var streams = ImmutableArray.CreateBuilder<StreamId>(ids.Count + names.Count);
        foreach (var id in ids) streams.Add(new StreamId(id));
        foreach (var name in names)
        {
            if (name.Length == 0) throw new RequestException("stream_names: a name is empty.");
            streams.Add(StreamId.FromName(name));
        }

        var seen = new HashSet<StreamId>(streams.Count);
        foreach (var stream in streams)
        {
            if (!seen.Add(stream)) throw new RequestException($"Stream {stream} is named twice.");
        }

        return streams.MoveToImmutable();
    }

    /// <exception cref="RequestException">The offset is negative.</exception>
    public static LogPosition PositionOf(long offset, string field) => offset >= 0
        ? new LogPosition(offset)
        : throw new RequestException($"{field}: {offset} is no position.");

    /// <exception cref="RequestException">The position is missing or negative.</exception>
    public static LogPosition PositionOf(Position? position, string field) => position switch
    {
        null => throw new RequestException($"{field}: missing."),
        { Offset: < 0 } or { Epoch: < 0 } => throw new RequestException($"{field}: a number is negative."),
        _ => new LogPosition(position.Offset, new Epoch(position.Epoch)),
    };

    /// <exception cref="RequestException">The origin is missing, or its writer is not 16 bytes.</exception>
    public static EntryOrigin OriginOf(Origin? origin) => origin is { Writer.Length: 16 }
        ? new EntryOrigin(new WriterId(new Guid(origin.Writer.Span)), origin.Sequence)
        : throw new RequestException("origin: an origin with a writer of 16 bytes is needed.");

    /// <exception cref="RequestException">The origin has no writer of 16 bytes, or the bound is negative.</exception>
    public static AppendTerms TermsOf(NewEntry entry) => new(
        entry.Origin is null ? null : OriginOf(entry.Origin),
        entry.HasBelowOffset ? PositionOf(entry.BelowOffset, "below_offset") : null);

    public static Corfu.ReadDetail DetailOf(Detail detail) => detail switch
    {
        Detail.Unspecified or Detail.Full => ReadDetail.Full,
        Detail.Headers => ReadDetail.Headers,
        Detail.State => ReadDetail.State,
        Detail.Verify => ReadDetail.Verify,
        _ => throw new RequestException($"detail: {(int)detail} is not known."),
    };

    public static ReadMode ModeOf(Mode mode) => mode switch
    {
        Mode.Unspecified or Mode.CloseHoles => ReadMode.CloseHoles,
        Mode.Observe => ReadMode.Observe,
        _ => throw new RequestException($"mode: {(int)mode} is not known."),
    };

    public static ReadConsistency ConsistencyOf(Consistency consistency) => consistency switch
    {
        Consistency.Unspecified or Consistency.Linearizable => ReadConsistency.Linearizable,
        Consistency.Session => ReadConsistency.Session,
        _ => throw new RequestException($"consistency: {(int)consistency} is not known."),
    };

    public static Outcome ToMessage(AppendOutcome outcome) => outcome switch
    {
        AppendOutcome.Appended => Outcome.Appended,
        AppendOutcome.NotAppended => Outcome.NotAppended,
        _ => Outcome.Unknown,
    };

    public static Protocol.Log.V1.AppendResult ToMessage(Corfu.AppendResult result) => new()
    {
        Outcome = ToMessage(result.Outcome),
        Position = result.Outcome == AppendOutcome.NotAppended || result.Position.Epoch == Epoch.None
            ? null
            : ToMessage(result.Position),
        Origin = ToMessage(result.Origin),
    };

    public static Position ToMessage(LogPosition position) =>
        new() { Offset = position.Offset, Epoch = position.Epoch.Value };

    public static ReadResult ToMessage(LogReadResult result) => new()
    {
        Position = ToMessage(result.Position),
        State = ToMessage(result.State),
        Entry = result.Entry is { } entry ? ToMessage(entry) : null,
    };

    public static Entry ToMessage(LogEntry entry)
    {
        var message = new Entry
        {
            Position = ToMessage(entry.Position),
            Origin = ToMessage(entry.Origin),
            WriterTimeUnixMs = entry.WriterTime.ToUnixTimeMilliseconds(),
            // The payload is a slice of what a unit answered, which is never written to again.
            Payload = UnsafeByteOperations.UnsafeWrap(entry.Payload),
            Junk = entry.IsJunk,
        };
        foreach (var header in entry.Streams)
        {
            var stream = new Protocol.Log.V1.StreamHeader { StreamId = header.Stream.Value };
            foreach (var back in header.Backpointers) stream.PreviousOffsets.Add(back.Offset);
            message.Streams.Add(stream);
        }

        return message;
    }

    public static Protocol.Log.V1.StreamTail ToMessage(Corfu.StreamTail tail)
    {
        var message = new Protocol.Log.V1.StreamTail { StreamId = tail.Stream.Value };
        foreach (var position in tail.Positions) message.Offsets.Add(position.Offset);
        return message;
    }

    private static Origin ToMessage(EntryOrigin origin) =>
        new() { Writer = BytesOf(origin.Writer), Sequence = origin.Sequence };

    private static ByteString BytesOf(WriterId writer)
    {
        if (s_lastWriter is { } last && last.Id == writer) return last.Bytes;
        var bytes = ByteString.CopyFrom(writer.Value.ToByteArray());
        s_lastWriter = new LastWriter(writer, bytes);
        return bytes;
    }

    private static State ToMessage(PageState state) => state switch
    {
        PageState.Unwritten => State.Unwritten,
        PageState.Data => State.Data,
        PageState.Junk => State.Junk,
        PageState.Trimmed => State.Trimmed,
        PageState.Corrupt => State.Corrupt,
        _ => throw new InvalidOperationException($"There is no state {state}."),
    };

    private sealed record LastWriter(WriterId Id, ByteString Bytes);
}
