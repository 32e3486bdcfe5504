using System.Buffers.Binary;
using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Protocol.Tests;

/// <summary>Declarations of token requests, and the rulings of their answers.</summary>
public sealed class DeclarationTests
{
    private static readonly StreamId s_x = new(300);
    private static readonly StreamId s_y = new(301);

    private static readonly TokenRequest s_request = SampleMessages.Declared;
    private static readonly TokenResponse s_response = SampleMessages.Ruled;

    [Fact]
    public void Golden_bytes_of_declarations() =>
        Assert.Equal(
            "03000000"
            + "02" + "0200" + "0000" + "03" + "AB00000000000000" + "0100" + "00" + "00"
            + "0100" + "0100" + "02" + "01" + "0400000000000000" + "0900000000000000"
            + "0200" + "2D01000000000000" + "03" + "CD00000000000000" + "0700000000000000" + "01"
            + "00"
            + "01" + "0100" + "0000" + "01" + "01" + "0000000000000000" + "0000000000000000" + "0000",
            Added(Frame(s_request, WireProtocol.Version3), Frame(s_request, WireProtocol.Version2)));

    [Fact]
    public void Golden_bytes_of_rulings() =>
        Assert.Equal(
            "01" + "03000000"
            + "01" + "01" + "01" + "01" + "2D01000000000000" + "03" + "CD00000000000000" + "0600000000000000"
            + "01" + "00"
            + "00" + "01" + "00" + "02" + "0000000000000000" + "00" + "0400000000000000",
            Added(Frame(s_response, WireProtocol.Version3), Frame(s_response, WireProtocol.Version2)));

    [Fact]
    public void Declarations_and_rulings_are_told_from_version_3_on()
    {
        var request = Read(Frame(s_request, WireProtocol.Version3), WireProtocol.Version3);
        Assert.Equal(Say(s_request), Say(request));
        Assert.Equal(new Epoch(4), request.Declarations[0].Records[1].Since!.Value.Epoch);
        Assert.Equal(s_response.Rulings.Select(Say),
            ReadResponse(Frame(s_response, WireProtocol.Version3), WireProtocol.Version3).Rulings.Select(Say));
        foreach (var version in new[] { WireProtocol.Baseline, WireProtocol.Version2 })
        {
            Assert.Empty(Read(Frame(s_request, version), version).Declarations);
            Assert.Empty(ReadResponse(Frame(s_response, version), version).Rulings);
        }
    }

    /// <summary>R28: silence is no ruling, of an older sequencer or of one that does not decide.</summary>
    [Fact]
    public void Answer_without_rulings_decides_no_record()
    {
        var plain = s_response with { Rulings = [] };
        Assert.Empty(ReadResponse(Frame(plain, WireProtocol.Version3), WireProtocol.Version3).Rulings);
        Assert.Equal(Convert.ToHexString(Frame(plain, WireProtocol.Version2)),
            Convert.ToHexString(Frame(plain, WireProtocol.Version3)));
        byte[] zero = [.. Frame(plain, WireProtocol.Version3), 0];
        Assert.Empty(ReadResponse(zero, WireProtocol.Version3).Rulings);
    }

    [Fact]
    public void Plain_request_has_the_bytes_of_version_2()
    {
        var plain = s_request with { Declarations = [] };
        Assert.Equal(Convert.ToHexString(Frame(plain, WireProtocol.Version2)),
            Convert.ToHexString(Frame(plain, WireProtocol.Version3)));
    }

    [Fact]
    public void Size_is_known_before_the_writing()
    {
        var bytes = Added(Frame(s_request, WireProtocol.Version3), Frame(s_request, WireProtocol.Version2)).Length / 2;
        Assert.Equal(bytes - 4, s_request.Declarations.Sum(declaration => declaration.Size));
        Assert.Equal([5, 0, 1], s_request.Declarations.Select(declaration => declaration.Scopes));
    }

    /// <summary>Each breaks one rule of the reader.</summary>
    [Theory]
    [InlineData("02000000" + "00" + "00")]
    [InlineData("03000000" + "41" + "00" + "00")]
    [InlineData("03000000" + "01" + "0000" + "00" + "00" + "00")]
    [InlineData("03000000" + "01" + "0100" + "0200" + "01" + "00" + "00" + "00")]
    [InlineData("03000000" + "01" + "0100" + "0000" + "04" + "00" + "00" + "00")]
    [InlineData("03000000" + "01" + "0100" + "0000" + "01" + "02" + "00" + "00")]
    [InlineData("03000000" + "01" + "FFFF" + "0000" + "01" + "00" + "00" + "00")]
    [InlineData("03000000" + "01" + "0100" + "0000" + "01" + "01" + "0400000000000000" + "0900000000000000" + "0100"
        + "0700000000000000" + "00" + "00" + "00")]
    [InlineData("03000000" + "01" + "0100" + "0000" + "01" + "01" + "0400000000000000" + "FFFFFFFFFFFFFFFF" + "0000"
        + "00" + "00")]
    public void Damaged_declarations_are_refused(string declarations)
    {
        byte[] frame = [.. Frame(s_request, WireProtocol.Version2), .. Convert.FromHexString(declarations)];
        Assert.Throws<MalformedDataException>(() => Read(frame, WireProtocol.Version3));
    }

    [Theory]
    [InlineData(Declaration.MaxScopes, false, true)]
    [InlineData(Declaration.MaxScopes + 1, false, false)]
    [InlineData(Declaration.MaxScopes, true, true)]
    [InlineData(Declaration.MaxScopes + 1, true, false)]
    public void Request_declares_up_to_a_number_of_scopes(int scopes, bool spread, bool fits)
    {
        var each = spread ? 16 : scopes;
        ImmutableArray<Declaration> declarations =
        [
            .. Enumerable.Repeat(s_x, scopes).Chunk(each).Select(chunk => new Declaration(
                [new DeclaredRecord([.. chunk.Select(x => new CellScope(x, ScopeKind.Whole))], null, [])])),
        ];
        var request = new TokenRequest(SampleMessages.Epoch, declarations.Length, [s_x])
        {
            Declarations = declarations,
        };
        if (fits) Assert.Equal(Say(request), Say(Read(Frame(request, WireProtocol.Version3), WireProtocol.Version3)));
        else Assert.Throws<ArgumentException>(() => Frame(request, WireProtocol.Version3));
    }

    /// <summary>Keyed reads are the longest scopes: fewer of them than the limit of scopes fit.</summary>
    [Theory]
    [InlineData(3_853, true)]
    [InlineData(3_854, false)]
    public void Request_declares_up_to_a_number_of_bytes(int reads, bool fits)
    {
        var record = new DeclaredRecord([Key(s_x, 1)], LogPosition.Zero, [.. Enumerable.Repeat(Key(s_y, 2), reads)]);
        var request = new TokenRequest(SampleMessages.Epoch, 1, [s_x]) { Declarations = [new Declaration([record])] };
        Assert.Equal(fits, request.Declarations[0].Size <= Declaration.MaxBytes);
        if (fits) Assert.Equal(Say(request), Say(Read(Frame(request, WireProtocol.Version3), WireProtocol.Version3)));
        else Assert.Throws<ArgumentException>(() => Frame(request, WireProtocol.Version3));
    }

    [Fact]
    public void Scopes_above_the_limit_are_refused_by_the_reader()
    {
        byte[] write = [0, 0, 1];
        var records = new List<byte>();
        for (var i = 0; i < 2; i++)
        {
            records.AddRange([1, 0x01, 0x08]);
            for (var j = 0; j < 0x801; j++) records.AddRange(write);
            records.Add(0);
        }

        var request = new TokenRequest(SampleMessages.Epoch, 2, [s_x]);
        byte[] frame = [.. Frame(request, WireProtocol.Version3), 2, 0, 0, 0, .. records];
        Assert.Throws<MalformedDataException>(() => Read(frame, WireProtocol.Version3));
    }

    private static CellScope Key(StreamId stream, ulong cell) => new(stream, ScopeKind.Keyed, cell);

    private static string Say(TokenRequest request) => string.Join(" / ", request.Declarations.Select(declaration =>
        string.Join("; ", declaration.Records.Select(r =>
            $"{string.Join(',', r.Writes)} since {r.Since} {string.Join(',', r.Reads)}"))));

    private static string Say(Ruling ruling) => $"{ruling.IsGranted} {string.Join(',', ruling.Refused)}";

    private static string Added(byte[] longer, byte[] shorter)
    {
        Assert.Equal(shorter[4..], longer[4..shorter.Length]);
        return Convert.ToHexString(longer.AsSpan(shorter.Length));
    }

    private static byte[] Frame(TokenRequest request, ushort version) => SampleMessages.Frame(request, version);

    private static byte[] Frame(TokenResponse response, ushort version) =>
        SampleMessages.Frame(Opcode.Token, response, version);

    private static TokenRequest Read(byte[] frame, ushort version)
    {
        BinaryPrimitives.WriteInt32LittleEndian(frame, frame.Length - MessageCodec.LengthSize);
        return (TokenRequest)MessageCodec.ReadRequest(FrameHeader.Parse(frame),
            frame.AsMemory(MessageCodec.HeaderSize), SampleMessages.Table, version)!;
    }

    private static TokenResponse ReadResponse(byte[] frame, ushort version)
    {
        BinaryPrimitives.WriteInt32LittleEndian(frame, frame.Length - MessageCodec.LengthSize);
        return (TokenResponse)MessageCodec.ReadResponse(s_request, FrameHeader.Parse(frame),
            frame.AsMemory(MessageCodec.HeaderSize), version);
    }
}
