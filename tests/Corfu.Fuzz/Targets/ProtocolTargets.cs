using System.Buffers.Binary;
using Corfu.Client;
using Corfu.Protocol.Tests;

namespace Corfu.Fuzz;

/// <summary>Messages of the wire, and the parts of entries.</summary>
public static class ProtocolTargets
{
    private static readonly Opcode[] Opcodes = [.. Enum.GetValues<Opcode>()];

    public static IEnumerable<Target> All()
    {
        var requests = SampleMessages.Requests();
        yield return new Target("request", 160, [.. requests.Select(SampleMessages.Frame)], Request,
            typeof(MalformedDataException))
        { Repair = RepairFrame };
        var responses = SampleMessages.Responses();
        yield return new Target(
            "response", 160, [.. responses.Select(r => SampleMessages.Frame(r.Request.Opcode, r.Response))],
            b => Response(requests, b), typeof(MalformedDataException))
        {
            Repair = RepairFrame,
        };
        yield return new Target("declarations", 60,
            [SampleMessages.Frame(SampleMessages.Declared, WireProtocol.Version3)], Declarations,
            typeof(MalformedDataException))
        { Repair = RepairFrame };
        yield return new Target("rulings", 60,
            [SampleMessages.Frame(Opcode.Token, SampleMessages.Ruled, WireProtocol.Version3)], Rulings,
            typeof(MalformedDataException))
        { Repair = RepairFrame };
        yield return new Target("entry", 120, Entries, b => EntryCodec.Decode(b),
            typeof(MalformedDataException))
        { Repair = RepairEntry };
        yield return new Target("stream headers", 120, Entries, b => EntryCodec.DecodeHeaders(b),
            typeof(MalformedDataException))
        { Repair = RepairEntry };
        yield return new Target(
            "projection", 60, [ProjectionCodec.Encode(SampleMessages.Projection(SampleMessages.Epoch))],
            b => ProjectionCodec.Decode(b), typeof(MalformedDataException));
        yield return new Target("texts", 30, Texts, Text);
    }

    public static IReadOnlyList<byte[]> Entries { get; } =
    [
        Entry(EntryKind.Data, 0, []), Entry(EntryKind.Data, 40, [Header(300, 99, 98, 50)]),
        Entry(EntryKind.Junk, 0, [Header(300)]),
        Entry(EntryKind.Data, 9,
            [Header(300, 70), Header(301, 1, 0),
                .. Enumerable.Range(0, 20).Select(i => Header((ulong)(400 + i), 99 - i))]),
        EntryCodec.Encode(new LogEntry(
            new LogPosition(1_000_000, new Epoch(3)), SampleMessages.Origin, EntryKind.Data, DateTimeOffset.UnixEpoch,
            [Header(300, 5, 4)], new byte[100])),
    ];

    private static readonly byte[][] Texts =
    [
        "corfu://127.0.0.1:7001,[::1]:7002,host.example:65535"u8.ToArray(), "e5:1042"u8.ToArray(),
        "9223372036854775807"u8.ToArray(), "[fe80::1%eth0]:80"u8.ToArray(),
    ];

    private static StreamHeader Header(ulong stream, params long[] back) =>
        new(new StreamId(stream), [.. back.Select(b => new LogPosition(b))]);

    private static byte[] Entry(EntryKind kind, int payload, ImmutableArray<StreamHeader> streams) =>
        EntryCodec.Encode(new LogEntry(new LogPosition(100, new Epoch(3)), SampleMessages.Origin, kind,
            DateTimeOffset.UnixEpoch, streams, new byte[payload]));

    private static void Request(byte[] frame)
    {
        if (frame.Length < MessageCodec.HeaderSize) return;
        var header = FrameHeader.Parse(frame);
        var request = MessageCodec.ReadRequest(header, frame.AsMemory(MessageCodec.HeaderSize), SampleMessages.Table);
        if (request is null) return;

        // A decoded request encodes to the same bytes; further bytes would be of a later version.
        var again = SampleMessages.Body(request);
        if (!frame.AsSpan(MessageCodec.HeaderSize).StartsWith(again)
            && request is not (InstallRequest or BootstrapRequest or AcceptRequest or DecidedRequest))
            throw new InvalidOperationException($"A {request.Opcode} is not what was read.");
    }

    private static void Response(IReadOnlyList<Request> requests, byte[] frame)
    {
        if (frame.Length < MessageCodec.HeaderSize) return;
        var header = FrameHeader.Parse(frame);
        var request = requests[frame[4] % requests.Count];
        foreach (var candidate in requests)
        {
            if (candidate.Opcode == header.Opcode) request = candidate;
        }

        MessageCodec.ReadResponse(request, header with { Opcode = request.Opcode },
            frame.AsMemory(MessageCodec.HeaderSize));
    }

    private static void Declarations(byte[] frame)
    {
        if (frame.Length < MessageCodec.HeaderSize) return;
        var read = MessageCodec.ReadRequest(FrameHeader.Parse(frame) with { Opcode = Opcode.Token },
            frame.AsMemory(MessageCodec.HeaderSize), SampleMessages.Table, WireProtocol.Version3);
        if (read is not TokenRequest request) throw new InvalidOperationException("A token request is none.");

        // A request that was read fits into a request again, and is the same there.
        var again = SampleMessages.Frame(request, WireProtocol.Version3);
        var twice = (TokenRequest)MessageCodec.ReadRequest(FrameHeader.Parse(again),
            again.AsMemory(MessageCodec.HeaderSize), SampleMessages.Table, WireProtocol.Version3)!;
        if (!again.AsSpan().SequenceEqual(SampleMessages.Frame(twice, WireProtocol.Version3)))
            throw new InvalidOperationException("A declaration is not what was read.");
    }

    private static void Rulings(byte[] frame)
    {
        if (frame.Length < MessageCodec.HeaderSize) return;
        MessageCodec.ReadResponse(SampleMessages.Declared,
            FrameHeader.Parse(frame) with { Opcode = Opcode.Token }, frame.AsMemory(MessageCodec.HeaderSize),
            WireProtocol.Version3);
    }

    private static void Text(byte[] bytes)
    {
        var text = System.Text.Encoding.Latin1.GetString(bytes);
        _ = ConnectionString.TryParse(text, out _, out _);
        _ = LogPosition.TryParse(text, out _);
        _ = NodeEndpoint.TryParse(text, out _);
    }

    public static void RepairFrame(byte[] frame)
    {
        BinaryPrimitives.WriteInt32LittleEndian(frame, frame.Length - MessageCodec.LengthSize);
        if (frame[15] >= 0x80) frame[15] = 0;
        if (Array.IndexOf(Opcodes, (Opcode)frame[16]) < 0) frame[16] = (byte)Opcodes[frame[16] % Opcodes.Length];
    }

    /// <summary>The checks as docs/formats/log.md says them.</summary>
    public static void RepairEntry(byte[] entry)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(entry, EntryCodec.Magic);
        entry[4] = EntryCodec.Version;
        var headers = Math.Clamp(BinaryPrimitives.ReadInt32LittleEndian(entry.AsSpan(12)), EntryCodec.FixedSize,
            entry.Length);
        BinaryPrimitives.WriteInt32LittleEndian(entry.AsSpan(12), headers);
        BinaryPrimitives.WriteInt32LittleEndian(entry.AsSpan(8), entry.Length);
        BinaryPrimitives.WriteInt32LittleEndian(entry.AsSpan(64), entry.Length - headers);
        BinaryPrimitives.WriteUInt32LittleEndian(
            entry.AsSpan(68),
            Crc32C.Compute(BinaryPrimitives.ReadInt64LittleEndian(entry.AsSpan(24)), entry.AsSpan(headers)));
        BinaryPrimitives.WriteUInt32LittleEndian(
            entry.AsSpan(76),
            Crc32C.Compute(Crc32C.Compute(entry.AsSpan(0, 76)), entry.AsSpan(EntryCodec.FixedSize..headers)));
    }
}
