using Salus.Coordination.Rules;
using Salus.Region.Tests.Support;

namespace Salus.Region.Tests;

/// <summary>Regions whose stores have lost batches or proofs (S20, S21).</summary>
public sealed class LossTests
{
    /// <summary>Region 1 has lost batch 2, of which region 0 knows the proof: the next batch has its number.</summary>
    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Region_with_a_lost_proof_takes_batches_behind_the_loss()
    {
        await using var world = await TestWorld.StartAsync();
        var driver = world.Driver();
        await driver.MountAsync();
        var first = driver.Make((0, 1, 1), (1, 1, 1));
        await driver.CommitAsync(first);
        await driver.CommitAsync((1, 2, 2));
        for (var member = 0; member < 3; member++)
            Assert.Equal(Status.Ok, (await driver.GetAsync(world.Member(0, member), 0, 0, 1))?.Status);
        foreach (var node in world.Nodes) await LoseBatchAsync(node, world.Key(1), number: 2);
        await world.ReplaceAsync(1, [.. world.Nodes]);
        var second = world.Driver();
        var beginning = second.BeginAsync();
        while (world.Map.State.Head.Phase != RunPhase.Waiting)
            await Task.Delay(2, TestContext.Current.CancellationToken);
        world.Map.Must(state => VolumeRules.AcceptLoss(
            state, state.Head.Run, first.Header.Name, first.Header.VolumeRoot, "operator", 1));
        await beginning;
        await second.OpenAsync();
        await second.CommitAsync((0, 3, 3)).WaitAsync(TimeSpan.FromSeconds(30), TestContext.Current.CancellationToken);
        Assert.Equal((second.Run, 2), (second.Commit!.Batch.Run, second.Commit.Batch.Number));
    }

    /// <summary>All marks of commits are gone, and one member has the last batch without its header.</summary>
    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Region_reports_though_one_member_lacks_the_last_header()
    {
        await using var world = await TestWorld.StartAsync();
        var first = world.Driver();
        await first.MountAsync();
        await first.CommitAsync((0, 1, 1), (1, 1, 1));
        // Region 1 has opened behind the batch: the log commits it without a proof.
        await world.Driver().MountAsync();
        foreach (var node in world.Nodes) await LoseBatchAsync(node, world.Key(1), number: long.MaxValue);
        world.Nodes[2].Recovery.LacksLastHeader = true;
        await world.ReplaceAsync(1, [.. world.Nodes]);
        var third = world.Driver();
        await third.MountAsync();
        await third.CommitAsync((0, 2, 2), (1, 2, 2));
        await third.CheckAsync();
    }

    private static async Task LoseBatchAsync(TestNode node, RegionKey region, long number)
    {
        var kept = new List<RegionRecord>();
        foreach (var listed in (await node.Log.ListAsync(region, 1, ListLogRequest.MaxRecords)).Records)
        {
            var record = (await node.Log.ReadAsync(
                region, new RecordName(listed.Head.Generation, listed.Head.Index)))!;
            if (record.Head.Kind == RegionRecordKind.Put
                && SubBatch.Decode(record.Content, out _).Header.Number >= number) break;
            kept.Add(record);
        }

        Assert.Equal(Status.Ok, node.Log.TryForget(region, out _));
        foreach (var record in kept)
        {
            Assert.Equal(Status.Ok, node.Log.TryCopy(record, out var lsn));
            await node.Log.WaitDurableAsync(lsn);
        }
    }
}
