using Corfu.Conformance;

namespace Corfu.Unit.Tests;

public sealed class RecordCodecTests
{
    private const string Golden =
        "43465231" + "02" + "02" + "0000" + "03000000" + "02000000" + "8877665544332211" + "0500000000000000" +
        "4000000000000000" + "8000000000000000" + "07000000" + "efbeadde" + "HEADCHEK" + "CHECK" + "0a0b0c";

    private static readonly LogRecord Record =
        new(RecordKind.Page, new LogPosition(0x1122334455667788, new Epoch(5)), new byte[] { 10, 11, 12 }, 2);

    [Fact]
    public void Bytes_are_pinned()
    {
        var bytes = Encode(256);
        var text = Convert.ToHexStringLower(bytes);
        Assert.Equal(Golden.Replace("HEADCHEK", text[112..120], StringComparison.Ordinal)
            .Replace("CHECK", text[120..128], StringComparison.Ordinal), text);
        Assert.Equal("e243275f72d7331e", text[112..128]);
    }

    [Fact]
    public void Record_encoded_and_decoded_is_equal()
    {
        Assert.True(RecordCodec.TryDecode(Encode(256), 256, out var header));
        Assert.Equal(new RecordHeader(RecordKind.Page, new LogPosition(0x1122334455667788), 3, 2, 0x40, 0x80, 7,
            0xDEADBEEF), header);
        Assert.Equal(new Epoch(5), header.Position.Epoch);
    }

    [Fact]
    public void Record_is_valid_at_one_address_only()
    {
        var bytes = Encode(256);
        for (long address = 0; address < 4096; address += 4)
            Assert.Equal(address == 256, RecordCodec.TryDecode(bytes, address, out _));
    }

    [Fact]
    public void Any_flipped_bit_of_the_header_or_the_checked_part_is_noticed()
    {
        for (var bit = 0; bit < (RecordCodec.HeaderSize + 2) * 8; bit++)
        {
            var bytes = Encode(256);
            bytes[bit / 8] ^= (byte)(1 << (bit % 8));
            var known = RecordCodec.TryDecode(bytes, 256, out var header);
            // The header has a check of its own, so that damage behind it leaves a record that is known.
            Assert.Equal(bit >= RecordCodec.HeaderSize * 8, known);
            Assert.False(known && RecordCodec.CheckedPartIntact(bytes, 256, header), $"bit {bit}");
        }
    }

    [Fact]
    public void Random_and_cut_bytes_are_no_records()
    {
        var random = new Random(1);
        for (var i = 0; i < 20_000; i++)
        {
            var bytes =
                i % 2 == 0 ? Encode(256)[..random.Next(RecordCodec.HeaderSize + 2)] : new byte[random.Next(200)];
            if (i % 2 == 1)
            {
                random.NextBytes(bytes);
                if (bytes.Length > 8) "CFR1\u0002"u8.CopyTo(bytes);
            }

            Assert.False(RecordCodec.TryDecode(bytes, 256, out var header)
                && RecordCodec.CheckedPartIntact(bytes, 256, header));
        }
    }

    private static byte[] Encode(long address)
    {
        var bytes = new byte[RecordCodec.Size(Record)];
        RecordCodec.Encode(Record, address, 0x40, 0x80, 7, 0xDEADBEEF, bytes);
        return bytes;
    }
}
