using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;
using static Corfu.Agent.Tests.AgentTest;

namespace Corfu.Agent.Tests;

/// <summary>TOCS 2.6: reconfigurations leave segments behind, and neither they nor the units that have left may make the projection grow.</summary>
public class ManyReconfigurationsTests
{
    private const int Rounds = 500;
    private const int MaxProjectionBytes = 4096;

    [Fact]
    public async Task The_projection_stays_small_over_a_thousand_reconfigurations_of_a_live_log()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        var operations = OperationsOf(cluster, client);
        using var stop = new CancellationTokenSource();
        var appending = AppendUntilAsync(cluster, stop.Token);
        var upkeep = UpkeepUntilAsync(cluster, stop.Token);
        var largest = 0;
        for (var round = 0; round < Rounds; round++)
        {
            // The next unit goes when the one before has been replaced everywhere: what two replicas hold bears one loss at a time.
            while (Rebuilder.IsNeeded(await client.RefreshAsync())) await Task.Delay(1);
            var units = client.Projection.Active.Chains.Select(c => c.Head).Distinct().ToList();
            var leaving = units[round % units.Count];
            var spare = await cluster.AddUnitAsync();
            Note(await operations.ReplaceUnitAsync(leaving, [spare], "replaced"));
            Note(await operations.ReplaceSequencerAsync(client.Projection.Sequencer.Id, [cluster.AddSequencer()], "replaced"));
        }

        await stop.CancelAsync();
        var appended = await appending;
        await upkeep;
        Assert.True(client.Projection.Epoch.Value > 2 * Rounds);
        Assert.True(appended.Count > Rounds, $"{appended.Count} entries");
        Assert.InRange(largest, 1, MaxProjectionBytes);
        var read = await cluster.Client().ReadManyAsync([.. appended]);
        for (var i = 0; i < read.Length; i++) Assert.Equal(Bytes(i), read[i].Entry?.Payload.ToArray());

        void Note(Projection projection) => largest = Math.Max(largest, ProjectionCodec.Encode(projection).Length);
    }

    private static async Task<List<LogPosition>> AppendUntilAsync(TestCluster cluster, CancellationToken stop)
    {
        var client = cluster.Client();
        var appended = new List<LogPosition>();
        while (!stop.IsCancellationRequested)
        {
            appended.Add((await client.AppendAsync(Bytes(appended.Count), [])).Position);
            await Task.Delay(1);
        }

        return appended;
    }

    /// <summary>What agents do in the background.</summary>
    private static async Task UpkeepUntilAsync(TestCluster cluster, CancellationToken stop)
    {
        var client = cluster.Client();
        var rebuilder = Rebuilder(cluster, client);
        var migrator = new Migrator(client, cluster.Transport, TimeProvider.System, new RebuildOptions { RetryDelay = TimeSpan.FromMilliseconds(1) });
        while (!stop.IsCancellationRequested)
        {
            await rebuilder.RunAsync();
            await migrator.CompactAsync(1, "compacted");
            await Task.Delay(1);
        }
    }
}
