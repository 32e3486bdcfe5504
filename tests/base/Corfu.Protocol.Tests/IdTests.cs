using Corfu.Protocol;

namespace Corfu.Protocol.Tests;

public sealed class IdTests
{
    [Fact]
    public void Position_prints_the_epoch_and_equality_ignores_the_epoch()
    {
        var position = new LogPosition(1042, new Epoch(5));
        Assert.Equal("e5:1042", position.ToString());
        Assert.Equal("1042", new LogPosition(1042).ToString());
        Assert.Equal(new LogPosition(1042), position);
        Assert.Equal(new LogPosition(1042).GetHashCode(), position.GetHashCode());
    }

    [Theory]
    [InlineData("e5:1042", 1042, 5)]
    [InlineData("0", 0, 0)]
    public void Positions_parse(string text, long offset, long epoch)
    {
        Assert.True(LogPosition.TryParse(text, out var position));
        Assert.Equal((offset, epoch), (position.Offset, position.Epoch.Value));
    }

    [Theory]
    [InlineData("")]
    [InlineData(null)]
    [InlineData("-1")]
    [InlineData("e:5")]
    [InlineData("e5")]
    [InlineData("e5:")]
    [InlineData("x")]
    [InlineData("99999999999999999999")]
    public void Other_texts_are_no_positions(string? text) => Assert.False(LogPosition.TryParse(text, out _));

    /// <summary>Every client must find the stream of a name under the same id.</summary>
    [Fact]
    public void Named_stream_is_raw_with_an_id_that_follows_from_the_name()
    {
        Assert.Equal(16431614141586347548UL, StreamId.FromName("orders").Value);
        Assert.True(StreamId.FromName("orders").IsRaw);
        Assert.False(new StreamId(StreamId.FirstObjectValue).IsRaw);
        Assert.False(new StreamId(StreamId.FirstRawValue - 1).IsRaw);
        Assert.True(new StreamId(StreamId.FirstRawValue).IsRaw);
        Assert.Throws<ArgumentException>(() => StreamId.FromName(""));
    }

    [Theory]
    [InlineData("127.0.0.1:7000", "127.0.0.1", 7000)]
    [InlineData("[::1]:7000", "::1", 7000)]
    [InlineData("localhost:1", "localhost", 1)]
    public void Endpoints_parse_and_print_alike(string text, string host, int port)
    {
        Assert.True(NodeEndpoint.TryParse(text, out var endpoint));
        Assert.Equal(new NodeEndpoint(host, port), endpoint);
        Assert.Equal(text, endpoint.ToString());
    }

    [Theory]
    [InlineData("::1:7000")]
    [InlineData("host")]
    [InlineData(":7000")]
    [InlineData("host:0")]
    [InlineData("host:65536")]
    [InlineData("host:+1")]
    [InlineData("[]:7000")]
    public void Other_texts_are_no_endpoints(string text) => Assert.False(NodeEndpoint.TryParse(text, out _));

    /// <summary>The check value of the CRC-32C specification (RFC 3720, appendix B.4).</summary>
    [Fact]
    public void Crc_has_the_published_check_values()
    {
        Assert.Equal(0xE3069283u, Crc32C.Compute("123456789"u8));
        Assert.Equal(0x8A9136AAu, Crc32C.Compute(new byte[32]));
    }
}
