using System.Text;
using Corfu.Client;
using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;

namespace Corfu.Client.Tests;

public class TrimTests
{
    private static readonly StreamId A = new(300);

    private static async Task<CorfuClient> FilledAsync(TestCluster cluster, int count)
    {
        var client = cluster.Client();
        for (var i = 0; i < count; i++) await client.AppendAsync(Encoding.UTF8.GetBytes($"{i}"), [A]);
        return client;
    }

    [Fact]
    public async Task A_prefix_is_trimmed_at_every_replica()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = await FilledAsync(cluster, 12);
        await client.TrimPrefixAsync(new LogPosition(7));
        var read = await client.ReadManyAsync([.. Enumerable.Range(0, 12).Select(i => new LogPosition(i))]);
        for (var i = 0; i < 12; i++) Assert.Equal(i < 7 ? PageState.Trimmed : PageState.Data, read[i].State);
        foreach (var unit in cluster.Units)
            Assert.Equal(7, (await cluster.Transport.CallAsync(unit, new UnitInfoRequest(default), default)).TrimMark.Offset);
    }

    [Fact]
    public async Task R10_nothing_beyond_the_tail_is_trimmed()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = await FilledAsync(cluster, 3);
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(() => client.TrimPrefixAsync(new LogPosition(4)).AsTask());
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(() => client.TrimAsync(new LogPosition(3)).AsTask());
    }

    [Fact]
    public async Task R5_a_single_trim_keeps_the_headers_so_that_streams_survive()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = await FilledAsync(cluster, 12);
        for (var i = 4; i < 10; i++) await client.TrimAsync(new LogPosition(i));
        var trimmed = (await client.ReadManyAsync([new LogPosition(6)]))[0];
        Assert.Equal(PageState.Trimmed, trimmed.State);
        Assert.True(trimmed.Entry!.TryGetStream(A, out _));
        var stream = new LogStream(client, A);
        await stream.SyncAsync();
        for (var i = 0; i < 4; i++) Assert.Equal($"{i}", Encoding.UTF8.GetString((await stream.ReadNextAsync())!.Payload.Span));
        await Assert.ThrowsAsync<LogTrimmedException>(() => stream.ReadNextAsync().AsTask());
    }

    [Fact]
    public async Task R5_whoever_meets_a_trim_brings_it_to_every_replica_before_answering()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var client = await FilledAsync(cluster, 4);
        var projection = client.Projection;
        Assert.True(projection.TryChainOf(LogPosition.Zero, out var chain));
        await cluster.Transport.CallAsync(
            projection.AddressOf(chain.Tail), new TrimPrefixRequest(projection.Epoch, new LogPosition(2)), default);
        Assert.Equal(PageState.Data, (await cluster.LookAsync(projection.AddressOf(chain.Head), LogPosition.Zero)).State);
        Assert.Equal(PageState.Trimmed, (await client.ReadManyAsync([LogPosition.Zero]))[0].State);
        Assert.Equal(PageState.Trimmed, (await cluster.LookAsync(projection.AddressOf(chain.Head), LogPosition.Zero)).State);
    }
}
