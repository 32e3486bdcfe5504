using System.Runtime.InteropServices;
using Corfu.Grpc.Protocol.Log.V1;
using Corfu.Grpc.Protocol.V1;
using Google.Protobuf;
using Google.Protobuf.Collections;
using StreamHeader = Corfu.StreamHeader;
using StreamTail = Corfu.StreamTail;

namespace Corfu.Grpc.Client;

/// <summary>Between the messages of corfu.log.v1 and the types of <see cref="ICorfuLog"/>.</summary>
internal static class Messages
{
    public static Position ToMessage(LogPosition position) =>
        new() { Offset = position.Offset, Epoch = position.Epoch.Value };

    public static Origin ToMessage(EntryOrigin origin) => new()
    {
        Writer = ByteString.CopyFrom(origin.Writer.Value.ToByteArray()),
        Sequence = origin.Sequence,
    };

    public static Detail ToMessage(ReadDetail detail) => detail switch
    {
        ReadDetail.Full => Detail.Full,
        ReadDetail.Headers => Detail.Headers,
        ReadDetail.State => Detail.State,
        ReadDetail.Verify => Detail.Verify,
        _ => throw new ArgumentOutOfRangeException(nameof(detail), detail, null),
    };

    public static AppendOutcome OutcomeOf(Outcome outcome) => outcome switch
    {
        Outcome.Appended => AppendOutcome.Appended,
        Outcome.NotAppended => AppendOutcome.NotAppended,
        _ => AppendOutcome.Unknown,
    };

    /// <summary>The result of an append with this origin.</summary>
    public static Corfu.AppendResult ResultOf(Protocol.Log.V1.AppendResult? result, EntryOrigin origin) =>
        new(OutcomeOf(result?.Outcome ?? Outcome.Unknown), PositionOf(result?.Position), origin);

    public static LogPosition PositionOf(Position? position) =>
        position is null ? default : new LogPosition(position.Offset, new Epoch(position.Epoch));

    public static LogReadResult ResultOf(ReadResult result) => new(
        PositionOf(result.Position),
        result.State switch
        {
            State.Unwritten => PageState.Unwritten,
            State.Data => PageState.Data,
            State.Junk => PageState.Junk,
            State.Trimmed => PageState.Trimmed,
            _ => PageState.Corrupt,
        },
        result.Entry is null ? null : EntryOf(result.Entry));

    public static StreamTail TailOf(Protocol.Log.V1.StreamTail tail) =>
        new(new StreamId(tail.StreamId), PositionsOf(tail.Offsets));

    private static LogEntry EntryOf(Entry entry)
    {
        var headers = new StreamHeader[entry.Streams.Count];
        for (var i = 0; i < headers.Length; i++)
        {
            var header = entry.Streams[i];
            headers[i] = new StreamHeader(new StreamId(header.StreamId), PositionsOf(header.PreviousOffsets));
        }

        return new LogEntry(
            PositionOf(entry.Position), OriginOf(entry.Origin), entry.Junk ? EntryKind.Junk : EntryKind.Data,
            DateTimeOffset.FromUnixTimeMilliseconds(entry.WriterTimeUnixMs),
            ImmutableCollectionsMarshal.AsImmutableArray(headers), entry.Payload.Memory);
    }

    private static EntryOrigin OriginOf(Origin? origin) => origin is { Writer.Length: 16 }
        ? new EntryOrigin(new WriterId(new Guid(origin.Writer.Span)), origin.Sequence)
        : default;

    private static ImmutableArray<LogPosition> PositionsOf(RepeatedField<long> offsets)
    {
        var positions = new LogPosition[offsets.Count];
        for (var i = 0; i < positions.Length; i++) positions[i] = new LogPosition(offsets[i]);
        return ImmutableCollectionsMarshal.AsImmutableArray(positions);
    }
}
