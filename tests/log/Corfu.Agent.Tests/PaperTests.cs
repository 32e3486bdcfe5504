using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;
using static Corfu.Agent.Tests.AgentTest;

namespace Corfu.Agent.Tests;

public class PaperTests
{
    /// <summary>TOCS 2.5, Fig. 5 (B) to (C): "Once F6 is completely rebuilt on F8 ..., the system moves to projection
    /// (C), where F8 is now used to service all reads".</summary>
    [Fact]
    public async Task Tocs25_a_rebuilt_replacement_serves_the_whole_range()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var client = cluster.Client();
        await AppendAsync(client, 0, 50);
        var (dead, mirror, spare) = (cluster.Units[0], cluster.Units[1], await cluster.AddUnitAsync());
        cluster.Transport.Stop(dead.Id);
        await OperationsOf(cluster, client).ReplaceUnitAsync(dead.Id, [spare], "F6 fails");
        await Rebuilder(cluster, client).RunAsync();
        cluster.Transport.Stop(mirror.Id);
        await OperationsOf(cluster, client).DropUnitAsync(mirror.Id, "F7 fails");
        await AssertWholeAsync(client, 50);
    }

    /// <summary>TOCS 2.6: "a small amount of proactive data movement ... to merge consecutive ranges" bounds the
    /// projection.</summary>
    [Fact]
    public async Task Tocs26_a_thousand_reconfigurations_of_a_live_log_leave_a_small_projection()
    {
        await using var cluster = await TestCluster.StartAsync(4, 3, acceptors: 3);
        var (admin, writer) = (cluster.Client(), cluster.Client());
        var (operations, rebuilder) = (OperationsOf(cluster, admin), Rebuilder(cluster, admin));
        using var stop = new CancellationTokenSource();
        using var permits = new SemaphoreSlim(4);
        var appends = AppendUntilAsync(writer, permits, stop.Token);
        for (var round = 0; admin.Projection.Epoch.Value < 1001; round++)
        {
            // The log grows all the time, but not faster than its units can be rebuilt.
            permits.Release(3);

            // Two of four epochs begin with a lost unit, one with another sequencer, one with the rebuilt replacements.
            await ReplaceOneAsync(cluster, operations,
                admin.Projection.Units[round * 7 % admin.Projection.Units.Length]);
            await operations.ReplaceSequencerAsync(admin.Projection.Sequencer.Id, [cluster.AddSequencer()], "test");
            await ReplaceOneAsync(cluster, operations,
                admin.Projection.Units[round * 3 % admin.Projection.Units.Length]);
            await rebuilder.RunAsync();
        }

        stop.Cancel();
        permits.Release();
        var appended = await appends;
        Assert.NotEmpty(appended);
        Assert.InRange(ProjectionCodec.Encode(admin.Projection).Length, 100, 4096);
        var read = await cluster.Client().ReadManyAsync([.. appended]);
        for (var i = 0; i < read.Length; i++) Assert.Equal(Bytes(i), read[i].Entry?.Payload.ToArray());

        // History is kept, with its reasons and times.
        var history = await admin.Cluster.ReadHistoryAsync(30);
        Assert.Equal(30, history.Length);
        Assert.All(history, p => Assert.NotNull(p.ProposedAt));
        Assert.Contains(history, p => p.Reason == "a unit is dead");
        Assert.Equal(Enumerable.Range(0, 30).Select(i => admin.Projection.Epoch.Value - i),
            history.Select(p => p.Epoch.Value));
    }

    private static async Task ReplaceOneAsync(TestCluster cluster, ClusterOperations operations, NodeAddress dead)
    {
        cluster.Transport.Stop(dead.Id);
        await operations.ReplaceUnitAsync(dead.Id, [await cluster.AddUnitAsync()], "a unit is dead");
    }

    private static async Task<List<LogPosition>> AppendUntilAsync(CorfuClient client, SemaphoreSlim permits,
        CancellationToken stop)
    {
        var positions = new List<LogPosition>();
        while (!stop.IsCancellationRequested)
        {
            await permits.WaitAsync(CancellationToken.None);
            var result = await client.AppendAsync(Bytes(positions.Count), ImmutableArray<StreamId>.Empty,
                CancellationToken.None);
            Assert.Equal(AppendOutcome.Appended, result.Outcome);
            positions.Add(result.Position);
        }

        return positions;
    }
}
