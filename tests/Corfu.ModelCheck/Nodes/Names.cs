using System.Collections.Immutable;
using System.Text;
using Corfu.Protocol;

namespace Corfu.ModelCheck.Nodes;

/// <summary>Identities that a person can read in a trace.</summary>
public static class Names
{
    public static readonly ClusterId Cluster = new(new Guid(1, 0, 0, new byte[8]));
    public static readonly StreamId Stream = new(StreamId.FirstRawValue);

    public static NodeId Unit(int index) => Id(1, index);

    public static NodeId Sequencer(int index) => Id(2, index);

    public static NodeId Acceptor(int index) => Id(3, index);

    /// <summary>An endpoint without a listener: the model delivers by identity.</summary>
    public static NodeAddress At(NodeId id) => new(id, new NodeEndpoint("model", 1));

    public static WriterId Writer(char client) => new(new Guid(4, (short)client, 0, new byte[8]));

    public static Guid Proposer(char process, int run) => new(5, (short)process, (short)run, new byte[8]);

    /// <summary>The first digits of the product's random identities.</summary>
    public static string Of(NodeId id)
    {
        var bytes = id.Value.ToByteArray();
        return bytes.AsSpan(8).ContainsAnyExcept((byte)0) ? id.ToString()[..8] : $"{"?usa"[bytes[0]]}{bytes[4]}";
    }

    public static string Of(EntryOrigin origin) => $"{(char)origin.Writer.Value.ToByteArray()[4]}#{origin.Sequence}";

    public static string Of(Ballot ballot)
    {
        if (ballot == default) return "none";
        var bytes = ballot.Proposer.ToByteArray();
        return $"{ballot.Round}{(char)bytes[4]}{bytes[6]}";
    }

    public static string Of(Projection projection)
    {
        var text =
            new StringBuilder($"{projection.Epoch} start {projection.Start.Offset} {Of(projection.Sequencer.Id)}");
        foreach (var segment in projection.Segments)
        {
            text.Append(
                $" [{segment.From.Offset},"
                + $"{segment.Until?.Offset.ToString(System.Globalization.CultureInfo.InvariantCulture)})=");
            text.Append(string.Join('/', segment.Chains.Select(Of)));
        }

        return text.ToString();
    }

    public static string Of(Chain chain) =>
        string.Join('-', chain.Replicas.Select(r => Of(r.Unit) + (r.Joining ? "*" : "")));

    public static string Of(Request request) => request switch
    {
        EntryRequest r => $"{r.Opcode} {Entry(r.Entry)} in {r.Epoch}",
        ReadRequest r => $"Read {r.Positions[0].Offset} in {r.Epoch}",
        SealRequest r => $"Seal for {r.Epoch}",
        InstallRequest r => $"Install {Of(r.Projection)}",
        BootstrapRequest r => $"Bootstrap {Of(r.Projection)}",
        PrepareRequest r => $"Prepare {r.Slot} ballot {Of(r.Ballot)}",
        AcceptRequest r => $"Accept ballot {Of(r.Ballot)}: {Of(r.Value)}",
        DecidedRequest r => $"Decided {Of(r.Value)}",
        LoadStreamsRequest r => $"LoadStreams {Of(r.Tails)} in {r.Epoch}",
        TrimPrefixRequest r => $"TrimPrefix below {r.Below.Offset} in {r.Epoch}",
        _ => $"{request.Opcode} in {request.Epoch}",
    };

    public static string Of(Response response) => response switch
    {
        { IsOk: false } and WriteResponse { Status: Status.AlreadyWritten } r =>
            $"AlreadyWritten: {r.Stored} {Of(r.StoredOrigin)}",
        { IsOk: false } and not LayoutResponse => $"{response.Status} ({response.Epoch})",
        TokenResponse r => $"granted {r.First.Offset}",
        TailResponse r => $"tail {r.Tail.Offset}",
        ReadResponse r => $"{r.Pages[0].State}{(r.Pages[0].Origin == default ? "" : $" {Of(r.Pages[0].Origin)}")}",
        SealResponse r => $"end {r.End.Offset}",
        StreamTailsResponse r => Of(r.Tails),
        LayoutResponse r => Of(r),
        _ => response.Status.ToString(),
    };

    private static string Of(ImmutableArray<StreamTail> tails) =>
        $"[{string.Join(',', tails[0].Positions.Select(p => p.Offset))}]";

    private static string Of(LayoutResponse response)
    {
        var slot = response.Slot is not { } s ? "empty"
            : s.IsDecided ? $"decided {Of(s.Value!)}"
            : $"{s.Slot} promised {Of(s.Promised)}{(s.Value is null ? "" : $", accepted {Of(s.Accepted)}: "
                + $"{Of(s.Value)}")}";
        return $"{response.Status}, {slot}{(response.Latest is null ? "" : $", newest {response.Latest.Epoch}")}";
    }

    private static string Entry(ReadOnlyMemory<byte> bytes)
    {
        var entry = EntryCodec.Decode(bytes);
        return $"{(entry.IsJunk ? "junk" : "data")} {Of(entry.Origin)} at {entry.Position.Offset} of "
            + $"{entry.Position.Epoch}";
    }

    private static NodeId Id(int kind, int index) => new(new Guid(kind, (short)index, 0, new byte[8]));
}
