using Corfu;
using Tango.Checkpoints;
using Tango.Tests.Formatting;

namespace Tango.Tests.Checkpoints;

/// <summary>docs/formats/tango.md, Checkpoints.</summary>
public class CheckpointFormatTests
{
    private static readonly CheckpointId Id = new(7, 2);

    private static readonly FinalRecord Final = new(
        Id, 1, new LogPosition(300), [5, 1], 0x01020304, [new LogPosition(301), new LogPosition(400)]);

    [Fact]
    public void A_chunk_has_these_bytes()
    {
        var bytes = CheckpointFormat.EncodeChunk(Id, 3, [0x61, 0x62]);
        Assert.Equal("9402070291" + "940603" + "cee2a22936" + "c4026162", Convert.ToHexStringLower(bytes.Span));
        Assert.Equal("ab"u8, CheckpointFormat.DecodeChunk(bytes, Id, 3).Span);
    }

    [Fact]
    public void A_final_record_has_these_bytes()
    {
        var bytes = CheckpointFormat.EncodeFinal(Final);
        Assert.Equal(
            "9402070291" + "960501cd012c" + "920501" + "ce01020304" + "92cd012dcd0190",
            Convert.ToHexStringLower(bytes.Span));
        var read = CheckpointFormat.TryDecodeFinal(bytes)!;
        Assert.Equal(Final.PartLengths.AsEnumerable(), read.PartLengths);
        Assert.Equal(Final.Positions.AsEnumerable(), read.Positions);
        Assert.Equal(Final, read with { PartLengths = Final.PartLengths, Positions = Final.Positions });
    }

    [Theory]
    [InlineData(8, 2, 3)]
    [InlineData(7, 3, 3)]
    [InlineData(7, 2, 4)]
    public void A_chunk_is_not_taken_for_another(ulong runtime, long sequence, int index)
    {
        var bytes = CheckpointFormat.EncodeChunk(Id, 3, [0x61, 0x62]);
        Assert.Throws<TangoFormatException>(
            () => CheckpointFormat.DecodeChunk(bytes, new CheckpointId(runtime, sequence), index));
    }

    [Fact]
    public void Every_changed_byte_of_a_chunk_is_noticed()
    {
        var bytes = CheckpointFormat.EncodeChunk(Id, 3, [0x61, 0x62, 0x63]).ToArray();
        for (var i = 0; i < bytes.Length; i++)
        {
            for (var bit = 0; bit < 8; bit++)
            {
                bytes[i] ^= (byte)(1 << bit);
                Assert.Throws<TangoFormatException>(() => CheckpointFormat.DecodeChunk(bytes, Id, 3));
                bytes[i] ^= (byte)(1 << bit);
            }
        }
    }

    [Fact]
    public void A_buffer_is_cut_into_chunks_of_any_size()
    {
        var written = new byte[300_000];
        new Random(1).NextBytes(written);
        var buffer = new ChunkedBuffer();
        for (var (from, size) = (0, 1); from < written.Length; from += size, size = size * 3 % 70_001)
        {
            size = Math.Min(size, written.Length - from);
            written.AsSpan(from, size).CopyTo(buffer.GetSpan(size));
            buffer.Advance(size);
        }

        Assert.Equal(written.Length, buffer.Length);
        foreach (var size in new[] { 7, 65_536, 300_000, 400_000 })
        {
            var chunks = buffer.Cut(size).ToList();
            Assert.All(chunks.SkipLast(1), chunk => Assert.Equal(size, chunk.Length));
            Assert.Equal(written, chunks.SelectMany(static chunk => chunk.ToArray()));
        }
    }

    // Decoder of the part of the MessagePack specification that a checkpoint needs.
    private const string Decoder = """
        def unpack(hex):
            data = bytearray.fromhex(hex)
            def take(n):
                taken = bytes(data[:n])
                del data[:n]
                return taken
            def number(n, signed=False):
                return int.from_bytes(take(n), 'big', signed=signed)
            def value():
                code = number(1)
                if code < 0x80: return code
                if 0x90 <= code < 0xa0: return [value() for _ in range(code & 15)]
                if 0xa0 <= code < 0xc0: return take(code & 31).decode()
                if code == 0xc0: return None
                if 0xc4 <= code <= 0xc6: return take(number(1 << (code - 0xc4)))
                if 0xcc <= code <= 0xcf: return number(1 << (code - 0xcc))
                if 0xd9 <= code <= 0xdb: return take(number(1 << (code - 0xd9))).decode()
                if 0xdc <= code <= 0xdd: return [value() for _ in range(number(2 << (code - 0xdc)))]
                raise ValueError(code)
            return value()
        """;

    /// <summary>A decoder that shares no code with ours reads a checkpoint by the words of the document.</summary>
    [Fact]
    public async Task Python_reads_a_checkpoint()
    {
        if (ForeignDecoderTests.Run("pass") is null) Assert.Skip("python3 is not installed");
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 1);
        var end = await runtime.Checkpoints.WriteAsync(accounts);
        var entries = await world.CheckpointEntriesAsync(256);
        var script = Decoder + $"""

            chunk, final = [unpack('{Hex(entries[0])}')[3][0], unpack('{Hex(entries[1])}')[3][0]]
            head = unpack(chunk[3][:final[3][0]].hex())
            head[2][0][3][0][0][0] = 'key'
            print(final[0], final[1], final[2] == head[1], final[3][0] + final[3][1] == len(chunk[3]), final[5:], head)
            """;
        var write = end.Offset - 1;
        Assert.Equal(
            $"5 1 True True [[{entries[0].Position.Offset}]] [1, {end.Offset}, [[256, 'test-accounts', 65536, "
            + $"[[['key', {write}, 0]], None, [{write}, 0], None], 1]], []]",
            ForeignDecoderTests.Run(script)?.Trim());
    }

    private static string Hex(LogEntry entry) => Convert.ToHexStringLower(entry.Payload.Span);
}
