using Salus.Client.Tests.Support;
using Salus.Coordination.Rules;

namespace Salus.Client.Tests;

/// <summary>Regions that have lost batches without a trace: the root of the volume alone shows it (S21).</summary>
public sealed class LossTests
{
    /// <summary>Seed 53 of the simulator: no mount went on, and no operator could give the tail up.</summary>
    [Fact]
    public void Operator_ends_the_wait_of_a_mount() => DriverWorld.Run(1, static async world =>
    {
        await WriteAndEndAsync(world);
        world.Regions[1].ReturnTo(2);
        var mounting = world.MountAsync();
        await WaitAsync(world);
        var shortfall = world.Regions.Log.State.Head.Shortfall!;
        Assert.Equal((5L, 3L), (shortfall.Proven.Number, shortfall.Shown));
        Assert.Equal([1], shortfall.Regions);
        Accept(world);
        var process = await mounting;
        Assert.Equal([1, 2, 0], await process.ReadAsync(0, 3));
        Assert.Equal([3, 0], await process.ReadAsync(16, 2));
        // Later batches have the numbers of those that were given up.
        await process.WriteAsync(17, 7, 8);
        await process.WriteAsync(0, 9);
        Assert.Equal(5, world.Regions.Proof!.Batch.Number);
        Assert.Equal([9, 2, 0], await process.ReadAsync(0, 3));
        Assert.Equal([3, 7, 8], await process.ReadAsync(16, 3));
        Assert.Equal((3L, 5L), Assert.Single(world.Regions.Log.State.Head.Losses.Select(
            static loss => (loss.Kept.Number, loss.Proven.Number))));
    }, regions: 2);

    [Fact]
    public void Mount_whose_patience_ends_leaves_the_wait_to_the_operator() => DriverWorld.Run(2, static async world =>
    {
        await WriteAndEndAsync(world);
        world.Regions[1].ReturnTo(2);
        var failed = await Assert.ThrowsAsync<VolumeException>(() => world.MountAsync());
        Assert.Equal(VolumeFault.Unavailable, failed.Fault);
        Assert.Contains("Region 1 lacks batches: 5 is proven committed, 3 is there", failed.Message,
            StringComparison.Ordinal);
        Accept(world);
        var process = await world.MountAsync();
        Assert.Equal([1, 2, 0], await process.ReadAsync(0, 3));
        Assert.Equal([3, 0], await process.ReadAsync(16, 2));
    }, regions: 2);

    [Fact]
    public void Tail_that_comes_back_before_the_operator_decides_is_whole() => DriverWorld.Run(3, static async world =>
    {
        await WriteAndEndAsync(world);
        var tail = world.Regions[1].ReturnTo(2);
        var mounting = world.MountAsync();
        await WaitAsync(world);
        world.Regions[1].Restore(tail);
        await world.Regions.ReplaceAsync(1);
        var process = await mounting;
        Assert.Equal([1, 2, 5], await process.ReadAsync(0, 3));
        Assert.Equal([3, 4], await process.ReadAsync(16, 2));
        Assert.Empty(world.Regions.Log.State.Head.Losses);
    }, regions: 2);

    [Fact]
    public void Tail_that_comes_back_later_is_void() => DriverWorld.Run(4, static async world =>
    {
        await WriteAndEndAsync(world);
        var tail = world.Regions[1].ReturnTo(2);
        await Assert.ThrowsAsync<VolumeException>(() => world.MountAsync());
        Accept(world);
        // An old copy is there again before the next writer, and its generation reads it.
        world.Regions[1].Restore(tail);
        await world.Regions.ReplaceAsync(1);
        var process = await world.MountAsync();
        Assert.Equal([1, 2, 0], await process.ReadAsync(0, 3));
        Assert.Equal([3, 0], await process.ReadAsync(16, 2));
        await process.WriteAsync(17, 6);
        Assert.Equal([3, 6], await process.ReadAsync(16, 2));
    }, regions: 2);

    /// <summary>The writer recovered the region again and again, for as long as it lived.</summary>
    [Fact]
    public void Writer_that_lives_ends_and_proves_the_acknowledged_batches() => DriverWorld.Run(5, static async world =>
    {
        world.Options = world.Options with { NoteInterval = TimeSpan.FromHours(1) };
        var process = await WriteAsync(world);
        var tail = world.Regions[1].ReturnTo(2);
        await world.Regions.ReplaceAsync(1);
        await Assert.ThrowsAsync<VolumeException>(() => process.WriteAsync(18, 6));
        await world.SleepAsync(5000);
        var failed = await Assert.ThrowsAsync<VolumeException>(() => process.WriteAsync(18, 6));
        Assert.Equal(VolumeFault.WritesLost, failed.Fault);
        Assert.StartsWith("Region 1 lacks writes that were acknowledged: batch 4 is committed, 2 is there, and all",
            failed.Message, StringComparison.Ordinal);
        Assert.Equal(VolumeFault.WritesLost,
            (await Assert.ThrowsAsync<VolumeException>(() => process.ReadAsync(0, 1))).Fault);
        Assert.Equal(5, world.Regions.Log.State.Head.Note!.Batch.Number);
        await process.Volume.DisposeAsync();
        var mounting = world.MountAsync();
        await WaitAsync(world);
        Accept(world);
        // An old copy is there again while the next writer has the volume.
        var next = await mounting;
        world.Regions[1].Restore(tail);
        await world.Regions.ReplaceAsync(1);
        await next.WriteAsync(17, 7);
        Assert.Equal([3, 7], await next.ReadAsync(16, 2));
        Assert.Equal([1, 2, 0], await next.ReadAsync(0, 3));
    }, regions: 2);

    [Fact]
    public void Writer_waits_for_a_store_that_is_away() => DriverWorld.Run(6, static async world =>
    {
        var process = await WriteAsync(world);
        var away = world.Regions.Log.State.Regions[1].Current.Members[1].Store;
        world.Regions.SetState(away, BookedState.Gone);
        world.Regions.StoresRead = 2;
        var tail = world.Regions[1].ReturnTo(2);
        await world.Regions.ReplaceAsync(1);
        var failed = await Assert.ThrowsAsync<VolumeException>(() => process.WriteAsync(18, 6));
        Assert.Equal((VolumeFault.Unavailable,
            "Region 1 lacks writes that were acknowledged: batch 4 is committed, 2 is there. Bring back store "
            + $"{away}."), (failed.Fault, failed.Message));
        await world.SleepAsync(3 * world.Options.Patience.TotalMilliseconds);
        world.Regions[1].Restore(tail);
        world.Regions.SetState(away, BookedState.Live);
        world.Regions.StoresRead = FakeRegions.Copies;
        await process.WriteAsync(19, 8);
        Assert.Equal([3, 4, 6, 8], await process.ReadAsync(16, 4));
    }, regions: 2);

    /// <summary>A recovery that has not read all stores says nothing about the others.</summary>
    [Fact]
    public void Writer_waits_for_a_recovery_that_reads_all_stores() => DriverWorld.Run(7, static async world =>
    {
        var process = await WriteAsync(world);
        world.Regions.StoresRead = 2;
        var tail = world.Regions[1].ReturnTo(2);
        await world.Regions.ReplaceAsync(1);
        await world.SleepAsync(3 * world.Options.Patience.TotalMilliseconds);
        world.Regions[1].Restore(tail);
        await process.WriteAsync(18, 6);
        Assert.Equal([3, 4, 6], await process.ReadAsync(16, 3));
    }, regions: 2);

    [Fact]
    public void Region_that_shows_everything_again_ends_the_wait_of_the_writer() => DriverWorld.Run(8,
        static async world =>
        {
            var process = await WriteAsync(world);
            var half = 0.7 * world.Options.Patience.TotalMilliseconds;
            for (var round = 0; round < 3; round++)
            {
                var tail = world.Regions[1].ReturnTo(2);
                await world.Regions.ReplaceAsync(1);
                await world.SleepAsync(half);
                world.Regions[1].Restore(tail);
                await process.WriteAsync(0, (byte)round);
                await process.WriteAsync(18, 6);
            }

            Assert.Equal([3, 4, 6], await process.ReadAsync(16, 3));
        }, regions: 2);

    // Batches 1, 3 and 5 are of region 0; 2 and 4 of region 1.
    private static async Task<DriverProcess> WriteAsync(DriverWorld world)
    {
        var process = await world.MountAsync();
        await process.WriteAsync(0, 1);
        await process.WriteAsync(16, 3);
        await process.WriteAsync(1, 2);
        await process.WriteAsync(17, 4);
        await process.WriteAsync(2, 5);
        return process;
    }

    private static async Task WriteAndEndAsync(DriverWorld world)
    {
        var process = await WriteAsync(world);
        await world.SleepAsync(2000);
        Assert.Equal(5, world.Regions.Log.State.Head.Note!.Batch.Number);
        process.Kill();
    }

    private static async Task WaitAsync(DriverWorld world)
    {
        while (world.Regions.Log.State.Head.Phase != RunPhase.Waiting) await world.SleepAsync(100);
    }

    private static void Accept(DriverWorld world)
    {
        var head = world.Regions.Log.State.Head;
        var prefix = head.Shortfall!.Prefix!.Value;
        Assert.Null(world.Regions.Log.Take(VolumeRules.AcceptLoss(
            world.Regions.Log.State, head.Run, prefix.Batch, prefix.VolumeRoot, "operator", 1)));
    }
}
