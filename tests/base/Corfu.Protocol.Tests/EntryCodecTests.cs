using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Protocol.Tests;

public sealed class EntryCodecTests
{
    private static readonly EntryOrigin Origin = new(new WriterId(new Guid("00112233-4455-6677-8899-aabbccddeeff")), 7);

    private static LogEntry Entry(long position, ImmutableArray<StreamHeader> streams, byte[] payload,
        EntryKind kind = EntryKind.Data) =>
        new(new LogPosition(position, new Epoch(3)), Origin, kind,
            DateTimeOffset.FromUnixTimeMilliseconds(1_700_000_000_000), streams, payload);

    private static StreamHeader Header(ulong stream, params long[] back) =>
        new(new StreamId(stream), [.. back.Select(b => new LogPosition(b))]);

    /// <summary>Pins every byte of docs/formats/log.md's entry: a change of the format must be a new version.</summary>
    [Fact]
    public void Golden_bytes_of_a_data_entry_with_relative_and_absolute_backpointers()
    {
        var bytes =
            EntryCodec.Encode(Entry(100_000, [Header(257, 99_999, 99_000), Header(258, 1)], "corfu"u8.ToArray()));
        Assert.Equal(
            "434645310101020073000000" + "6E000000" + "0300000000000000" + "A086010000000000"
            + "33221100554477668899AABBCCDDEEFF"
            + "0700000000000000" + "0068E5CF8B010000" + "05000000",
            Convert.ToHexString(bytes.AsSpan(0, 68)));
        Assert.Equal("0101000000000000" + "02" + "0100E803" + "0201000000000000" + "81" + "0100000000000000",
            Convert.ToHexString(bytes.AsSpan(80, 30)));
        Assert.Equal("636F726675", Convert.ToHexString(bytes.AsSpan(110)));
    }

    [Fact]
    public void Round_trip_keeps_everything()
    {
        var entry = Entry(70_000, [Header(1), Header(300, 69_999, 69_998, 4_464, 4_463)], [1, 2, 3]);
        var back = EntryCodec.Decode(EntryCodec.Encode(entry));
        Assert.Equal(entry.Position, back.Position);
        Assert.Equal(entry.Position.Epoch, back.Position.Epoch);
        Assert.Equal(entry.Origin, back.Origin);
        Assert.Equal(entry.Kind, back.Kind);
        Assert.Equal(entry.WriterTime, back.WriterTime);
        Assert.Equal(entry.Streams.AsSpan(), back.Streams.AsSpan());
        Assert.Equal(entry.Payload.ToArray(), back.Payload.ToArray());
    }

    [Fact]
    public void Junk_without_streams_or_payload_is_an_entry()
    {
        var back = EntryCodec.Decode(EntryCodec.Encode(Entry(0, [], [], EntryKind.Junk)));
        Assert.True(back.IsJunk);
        Assert.Empty(back.Streams);
    }

    [Fact]
    public void Headers_decode_from_the_header_bytes_alone()
    {
        var bytes = EntryCodec.Encode(Entry(10, [Header(256, 9)], new byte[1000]));
        var headers = EntryCodec.DecodeHeaders(bytes.AsMemory(0, EntryCodec.HeaderLength(bytes)));
        Assert.Equal(new LogPosition(9), Assert.Single(headers.Streams).Backpointers[0]);
        Assert.True(headers.Payload.IsEmpty);
    }

    [Fact]
    public void Damage_anywhere_is_noticed_and_payload_damage_leaves_the_headers_readable()
    {
        var good = EntryCodec.Encode(Entry(10, [Header(256, 9, 5)], [1, 2, 3, 4]));
        var headerLength = EntryCodec.HeaderLength(good);
        for (var i = 0; i < good.Length; i++)
        {
            for (var bit = 0; bit < 8; bit++)
            {
                var bad = good.ToArray();
                bad[i] ^= (byte)(1 << bit);
                Assert.Throws<MalformedDataException>(() => EntryCodec.Decode(bad));
                if (i >= headerLength) Assert.Equal(new StreamId(256), EntryCodec.DecodeHeaders(bad).Streams[0].Stream);
            }
        }
    }

    [Fact]
    public void A_truncated_entry_is_refused_at_every_length()
    {
        var good = EntryCodec.Encode(Entry(10, [Header(256, 9)], [1, 2, 3, 4]));
        for (var length = 0; length < good.Length; length++)
            Assert.Throws<MalformedDataException>(() => EntryCodec.Decode(good.AsMemory(0, length)));
    }

    [Fact]
    public void The_payload_check_covers_the_position_so_a_misdirected_read_is_caught()
    {
        var a = EntryCodec.Encode(Entry(10, [], [1, 2, 3]));
        var b = EntryCodec.Encode(Entry(11, [], [1, 2, 3]));
        a.AsSpan(EntryCodec.FixedSize).CopyTo(b.AsSpan(EntryCodec.FixedSize));
        Assert.NotEqual(a.AsSpan(68, 4).ToArray(), b.AsSpan(68, 4).ToArray());
    }
}
