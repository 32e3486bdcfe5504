using Salus.Client.Tests.Support;

namespace Salus.Client.Tests;

public sealed class ReadTests
{
    [Fact]
    public void Wrong_answer_accuses_the_member_and_the_next_is_asked() => DriverWorld.Run(1, static async world =>
    {
        var process = await world.MountAsync();
        await process.WriteAsync(0, 1, 2, 3);
        var liar = world.Regions.Member(0, 1);
        world.Regions.Liars.Add(liar);
        for (var i = 0; i < 6; i++) Assert.Equal([1, 2, 3], await process.ReadAsync(0, 3));
        await world.SleepAsync(100);
        var suspicion = Assert.Single(world.Regions.Log.State.Head.Suspicions);
        Assert.Equal((liar, SuspicionKind.WrongAnswer), (suspicion.Member, suspicion.Kind));
    });

    [Fact]
    public void Silent_member_costs_the_patience_alone() => DriverWorld.Run(2, static async world =>
    {
        var process = await world.MountAsync();
        await process.WriteAsync(0, 1);
        world.Regions.Mute.Add(world.Regions.Member(0, 2));
        for (var i = 0; i < 6; i++) Assert.Equal([1], await process.ReadAsync(0, 1));
        Assert.Empty(world.Regions.Log.State.Head.Suspicions);
    });

    /// <summary>Seed 3852: a read that no member answered at first ended with the error of the log.</summary>
    [Fact]
    public void Read_waits_for_a_member_while_the_log_is_away() => DriverWorld.Run(20, static async world =>
    {
        var process = await world.MountAsync();
        await process.WriteAsync(0, 1);
        world.Regions.Log.IsUnreachable = true;
        for (var member = 0; member < FakeRegions.Copies; member++)
            world.Regions.Mute.Add(world.Regions.Member(0, member));
        var read = process.ReadAsync(0, 1);
        await world.SleepAsync(5_000);
        Assert.False(read.IsCompleted);
        world.Regions.Mute.Clear();
        Assert.Equal([1], await read);
        world.Regions.Log.IsUnreachable = false;
    });

    [Fact]
    public void Blocks_that_no_member_has_right_are_an_error() => DriverWorld.Run(3, static async world =>
    {
        var process = await world.MountAsync();
        await process.WriteAsync(0, 1);
        for (var member = 0; member < FakeRegions.Copies; member++)
            world.Regions.Liars.Add(world.Regions.Member(0, member));
        var failed = await Assert.ThrowsAsync<VolumeException>(() => process.ReadAsync(0, 1));
        Assert.Equal(VolumeFault.Unverifiable, failed.Fault);
    });

    [Fact]
    public void Leaves_that_left_the_cache_are_read_and_verified() => DriverWorld.Run(4, static async world =>
    {
        // The cache has 227 pages, the volume 512.
        world.Options = world.Options with { TreeCache = 1 << 20 };
        var process = await world.MountAsync();
        for (var page = 0; page < 512; page++) await process.WriteAsync(page * 256, (byte)((page % 250) + 1));
        world.Regions.Liars.Add(world.Regions.Member(0, 0));
        for (var page = 0; page < 512; page += 37)
            Assert.Equal([(byte)((page % 250) + 1), 0], await process.ReadAsync(page * 256, 2));
        // A write to a page that is not there brings it first.
        await process.WriteAsync(1, 77);
        Assert.Equal([1, 77], await process.ReadAsync(0, 2));
    }, regions: 2, regionBlocks: 65536);

    [Fact]
    public void Extents_tell_empty_blocks() => DriverWorld.Run(5, static async world =>
    {
        var process = await world.MountAsync();
        await process.WriteAsync(2, 1, 2);
        var extents = new BlockExtents();
        await process.Volume.ReadAsync(0, new byte[6 * 4096], extents, CancellationToken.None);
        Assert.Equal([new(2, true), new(2, false), new(2, true)],
            Enumerable.Range(0, extents.Count).Select(i => extents[i]));
    });

    [Fact]
    public void Read_under_a_lease_that_has_ended_is_not_delivered() => DriverWorld.Run(6, static async world =>
    {
        var process = await world.MountAsync();
        await process.WriteAsync(0, 1);
        world.Regions.Delay = TimeSpan.FromMilliseconds(50);
        var read = process.ReadAsync(0, 1);
        await world.SleepAsync(1);
        world.Regions.Log.EndLease();
        var failed = await Assert.ThrowsAsync<VolumeException>(() => read);
        Assert.Equal(VolumeFault.LeaseLost, failed.Fault);
    });

    /// <summary>Seed 491 of the simulator: the page's question ends with the volume, and its reader was told of a
    /// cancellation.</summary>
    [Fact]
    public void Read_whose_leaves_are_asked_for_as_the_lease_ends_is_told_of_the_loss() => DriverWorld.Run(
        7, static async world =>
        {
            world.Options = world.Options with { TreeCache = 1 << 20 };
            var process = await world.MountAsync();
            for (var page = 0; page < 512; page++) await process.WriteAsync(page * 256, 1);
            world.Regions.Delay = TimeSpan.FromMilliseconds(50);
            var read = process.ReadAsync(0, 1);
            await world.SleepAsync(1);
            world.Regions.Log.EndLease();
            var failed = await Assert.ThrowsAsync<VolumeException>(() => read);
            Assert.Equal(VolumeFault.LeaseLost, failed.Fault);
        }, regions: 2, regionBlocks: 65536);
}
