using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;

namespace Corfu.Agent.Tests;

public class ScrubTests
{
    [Fact]
    public async Task Scrub_finds_and_mends_damage_that_no_reader_meets()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        await AgentTest.AppendAsync(client, 0, 100);
        await client.TrimPrefixAsync(new LogPosition(10));
        var damage = new Damage();
        for (var i = 12; i < 100; i += 12) damage.Add(cluster.Units[0], new LogPosition(i));
        cluster.Transport.Rewrite = damage.Rewrite;
        var scrubber = new Scrubber(client.Cluster, TimeProvider.System,
            options: new ScrubOptions { Batch = 7, PositionsPerSecond = null });
        var first = await scrubber.RunPassAsync();
        Assert.Equal((1, 8L, 82L, 0L), (first.Pass, first.Mended, first.Sound, first.Unrecoverable));
        Assert.True(damage.Healed.IsCompleted);
        Assert.Equal(0, (await scrubber.RunPassAsync()).Mended);
    }

    [Fact]
    public async Task Stopped_scrub_goes_on_from_the_last_position()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var client = cluster.Client();
        await AgentTest.AppendAsync(client, 0, 50);
        var options = new ScrubOptions { Batch = 10, PositionsPerSecond = null };
        using var stop = new CancellationTokenSource();
        var reads = 0;
        cluster.Transport.Faults = (_, request) =>
        {
            if (request is ReadRequest && ++reads == 5) stop.Cancel();
            return new(Fault.None);
        };
        var stopped = new Scrubber(client.Cluster, TimeProvider.System, options: options);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => stopped.RunPassAsync(stop.Token));
        Assert.Equal(new LogPosition(20), stopped.Progress.Next);
        cluster.Transport.Trace = new();
        var whole = await new Scrubber(client.Cluster, TimeProvider.System, options: options,
            resume: stopped.Progress).RunPassAsync();
        Assert.Equal((1, 50L), (whole.Pass, whole.Sound));
        Assert.Equal(30,
            cluster.Transport.Trace.Select(t => t.Request).OfType<ReadRequest>().Sum(r => r.Positions.Length) / 2);
    }
}
