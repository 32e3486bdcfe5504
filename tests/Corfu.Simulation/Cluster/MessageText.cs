using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Simulation.Cluster;

/// <summary>Messages as a person wants to read them in a trace.</summary>
internal static class MessageText
{
    public static string Of(Request request) => request switch
    {
        EntryRequest r => $"{r.Opcode} {r.Epoch} {Entry(r.Entry)}",
        CompleteManyRequest r => $"CompleteMany {r.Epoch} [{string.Join("; ", r.Entries.Select(Entry))}]",
        ReadRequest r => $"Read {r.Epoch} {r.Detail} [{string.Join(",", r.Positions)}]",
        TokenRequest r =>
            $"Token {r.Epoch} x{r.Count} streams [{string.Join(",", r.Streams)}] grace {r.GraceMilliseconds}",
        TailRequest r => $"Tail {r.Epoch} streams [{string.Join(",", r.Streams)}]",
        StreamTailsRequest r => $"StreamTails {r.Epoch} [{string.Join(",", r.Streams)}]",
        ListStreamTailsRequest r => $"ListStreamTails {r.Epoch} below {r.Below} from {r.From}",
        ImportStreamTailsRequest r => $"ImportStreamTails {r.Epoch} {Tails(r.Tails)}",
        LoadStreamsRequest r => $"LoadStreams {r.Epoch} {Tails(r.Tails)}",
        GrantsRequest r => $"Grants {r.Epoch} [{string.Join(",", r.Positions)}]",
        TrimRequest r => $"Trim {r.Epoch} {r.Position} tombstone {r.Tombstone.Length} bytes",
        TrimPrefixRequest r => $"TrimPrefix {r.Epoch} {r.Below}",
        InstallRequest r => $"Install {r.Projection}",
        BootstrapRequest r => $"Bootstrap {r.Projection}",
        _ => $"{request.Opcode} {request.Epoch} {request}",
    };

    public static string Of(Response response) => response switch
    {
        WriteResponse { Status: Status.AlreadyWritten } r => $"{Head(r)} by {r.Stored} {r.StoredOrigin}",
        CompleteManyResponse { IsOk: true } r =>
            $"{Head(r)} [{string.Join(", ", r.Outcomes.Select(o => $"{o.Status}"))}]",
        ReadResponse { IsOk: true } r =>
            $"{Head(r)} [{string.Join(", ", r.Pages.Select(p => $"{p.Position} {p.State} {p.Origin} "
            + $"{p.Bytes.Length}"))}]",
        TokenResponse { IsOk: true } r => $"{Head(r)} first {r.First} previous {Tails(r.Previous)}",
        TailResponse { IsOk: true } r => $"{Head(r)} tail {r.Tail} {Tails(r.Tails)} grace {r.GraceMilliseconds}",
        TokenResponse r => $"{Head(r)} unknown [{string.Join(",", r.Unknown)}]",
        TailResponse r => $"{Head(r)} unknown [{string.Join(",", r.Unknown)}]",
        StreamTailsResponse r => $"{Head(r)} {Tails(r.Tails)}",
        ListStreamTailsResponse r =>
            $"{Head(r)} {Tails(r.Tails)} next {r.Next}{(r.IsLast ? ", last" : "")}{(r.Complete ? "" : ", incomplete")}",
        SealResponse r => $"{Head(r)} end {r.End} mark {r.TrimMark}",
        LayoutResponse r =>
            $"{Head(r)} latest {r.Latest?.Epoch} slot {r.Slot?.Slot} decided {r.Slot?.IsDecided} value {r.Slot?.Value}",
        _ => Head(response),
    };

    private static string Head(Response response) =>
        $"{response.GetType().Name[..^8]} {response.Status} {response.Epoch}";

    private static string Tails(ImmutableArray<StreamTail> tails)
        => tails.IsDefault ? "" : string.Join(" ", tails.Select(t => $"{t.Stream}:[{string.Join(",", t.Positions)}]"));

    private static string Entry(ReadOnlyMemory<byte> bytes)
    {
        LogEntry entry = EntryCodec.Decode(bytes);
        string streams =
            string.Join(" ", entry.Streams.Select(h => $"{h.Stream}:[{string.Join(",", h.Backpointers)}]"));
        return $"{entry.Position} {entry.Kind} {entry.Origin} streams {streams} payload {entry.Payload.Length}";
    }
}
