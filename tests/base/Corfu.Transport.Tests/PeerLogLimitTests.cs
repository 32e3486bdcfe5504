using System.Net;
using Corfu.Server;

namespace Corfu.Transport.Tests;

public sealed class PeerLogLimitTests
{
    private static readonly IPAddress One = IPAddress.Parse("10.0.0.1");

    private readonly ManualTime _time = new();
    private readonly PeerLogLimit _limit;

    public PeerLogLimitTests() => _limit = new PeerLogLimit(_time);

    [Fact]
    public void Address_has_a_few_lines_a_minute_and_a_count_of_the_lines_left_out()
    {
        Assert.Equal(PeerLogLimit.LinesPerMinute, Lines(One, 100));
        Assert.True(_limit.Admits(IPAddress.Parse("10.0.0.2"), out _));
        _time.Advance(TimeSpan.FromMinutes(1));
        Assert.True(_limit.Admits(One, out var leftOut));
        Assert.Equal(100 - PeerLogLimit.LinesPerMinute, leftOut);
        Assert.True(_limit.Admits(One, out leftOut));
        Assert.Equal(0, leftOut);
    }

    [Fact]
    public void Addresses_beyond_the_limit_share_one()
    {
        var lines = 0;
        for (var i = 0; i < 10_000; i++) lines += Lines(new IPAddress(i + 1), 1);
        Assert.Equal(PeerLogLimit.MaxPeers + PeerLogLimit.LinesPerMinute, lines);

        // After a minute the peers make room.
        _time.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(PeerLogLimit.LinesPerMinute, Lines(One, 100));
    }

    private int Lines(IPAddress peer, int count)
    {
        var lines = 0;
        for (var i = 0; i < count; i++)
        {
            if (_limit.Admits(peer, out _)) lines++;
        }

        return lines;
    }
}
