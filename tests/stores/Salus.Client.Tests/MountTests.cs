using Salus.Client.Tests.Support;

namespace Salus.Client.Tests;

public sealed class MountTests
{
    [Fact]
    public void Batch_that_one_participant_lacks_is_void_with_all_behind() => DriverWorld.Run(1, static async world =>
    {
        var first = await world.MountAsync();
        await first.WriteAsync(0, 1);
        // Batch 2 reaches region 0 alone, batch 3 its only region.
        world.Regions.OnPut = static batch =>
            batch.Header.Number == 2 && batch.Region == 1 ? SalusStatus.Pending : null;
        var lost = Task.WhenAll(first.WriteAsync(15, 2, 2), first.WriteAsync(40, 3));
        await world.SleepAsync(100);
        first.Kill();
        await Assert.ThrowsAsync<VolumeException>(() => lost);
        world.Regions.OnPut = null;
        var second = await world.MountAsync();
        Assert.Equal([1], await second.ReadAsync(0, 1));
        Assert.Equal([0, 0], await second.ReadAsync(15, 2));
        Assert.Equal([0], await second.ReadAsync(40, 1));
        await second.WriteAsync(15, 5, 5);
        Assert.Equal([5, 5], await second.ReadAsync(15, 2));
        // Numbers go on behind the decided batch.
        Assert.Equal((2L, 2L), (world.Regions.Proof!.Batch.Run, world.Regions.Proof.Batch.Number));
    });

    [Fact]
    public void Wrong_root_of_a_member_is_replaced_by_another_members() => DriverWorld.Run(2, static async world =>
    {
        var first = await world.MountAsync();
        await first.WriteAsync(0, 1);
        await first.WriteAsync(20, 2);
        await first.Volume.DisposeAsync();
        for (var member = 0; member < FakeRegions.Copies - 1; member++)
            world.Regions.WrongRoots.Add(world.Regions.Member(1, member));
        var second = await world.MountAsync();
        Assert.Equal([1], await second.ReadAsync(0, 1));
        Assert.Equal([2], await second.ReadAsync(20, 1));
    });

    /// <summary>Seed 24 of the simulator: the decision named no last batch of the region, and the mount waited for a
    /// region without one.</summary>
    [Fact]
    public void Region_that_has_all_batches_in_a_checkpoint_is_mounted() => DriverWorld.Run(24, static async world =>
    {
        var first = await world.MountAsync();
        await first.WriteAsync(0, 1);
        await first.WriteAsync(20, 2);
        await first.Volume.DisposeAsync();
        world.Regions.WithoutHeaders.UnionWith([0, 1]);
        var second = await world.MountAsync();
        Assert.Equal([1], await second.ReadAsync(0, 1));
        Assert.Equal([2], await second.ReadAsync(20, 1));
        await second.WriteAsync(20, 3);
        Assert.Equal([3], await second.ReadAsync(20, 1));
    });

    [Fact]
    public void Mount_without_an_answering_region_ends_after_the_patience() => DriverWorld.Run(3, static async world =>
    {
        for (var member = 0; member < FakeRegions.Copies; member++)
            world.Regions.Mute.Add(world.Regions.Member(2, member));
        var failed = await Assert.ThrowsAsync<VolumeException>(() => world.MountAsync());
        Assert.Equal(VolumeFault.Unavailable, failed.Fault);
        Assert.Contains("Region 2", failed.Message, StringComparison.Ordinal);
        // The lock was given back.
        world.Regions.Mute.Clear();
        var process = await world.MountAsync();
        await process.WriteAsync(0, 1);
    });

    /// <summary>Seeds 43 and 56 of the simulator: a mute member held up the mount, and no batch was there to stall.
    /// </summary>
    [Fact]
    public void Region_that_does_not_report_is_suspected() => DriverWorld.Run(26, static async world =>
    {
        world.Regions.WithoutReport.Add(1);
        var mounting = world.MountAsync();
        await world.SleepAsync(5000);
        Assert.False(mounting.IsCompleted);
        Assert.Contains(world.Regions.Log.State.Head.Suspicions, static suspicion => suspicion.Region == 1);
        Assert.All(world.Regions.Log.State.Head.Suspicions,
            static suspicion => Assert.Equal((1, SuspicionKind.Stall), (suspicion.Region, suspicion.Kind)));
        world.Regions.WithoutReport.Clear();
        await world.Regions.ReplaceAsync(1);
        await (await mounting).WriteAsync(0, 1);
    });

    [Fact]
    public void Volume_is_mounted_by_one_process_at_a_time() => DriverWorld.Run(4, static async world =>
    {
        var first = await world.MountAsync();
        var second = world.MountAsync();
        await world.SleepAsync(1000);
        Assert.False(second.IsCompleted);
        await first.WriteAsync(0, 1);
        await first.Volume.DisposeAsync();
        Assert.Equal([1], await (await second).ReadAsync(0, 1));
        await Assert.ThrowsAsync<VolumeException>(() => first.WriteAsync(0, 2));
    });

    [Fact]
    public void Clean_end_asks_regions_for_checkpoints() => DriverWorld.Run(5, static async world =>
    {
        var process = await world.MountAsync();
        await process.WriteAsync(0, 1);
        await process.WriteAsync(20, 2);
        await process.Volume.DisposeAsync();
        Assert.Equal([1L, 2L, 0L, 0L],
            world.Regions.Log.State.Regions.Values.Select(static region => region.Newest.Batch));
    });
}
