using Salus.Client.Tests.Support;

namespace Salus.Client.Tests;

public sealed class WriteTests
{
    [Fact]
    public void Write_is_read_and_outlives_the_mount() => DriverWorld.Run(1, static async world =>
    {
        var process = await world.MountAsync();
        await process.WriteAsync(14, 1, 2, 3, 4);
        Assert.Equal([0, 1, 2, 3, 4, 0], await process.ReadAsync(13, 6));
        await process.Volume.DisposeAsync();
        var next = await world.MountAsync();
        Assert.Equal([0, 1, 2, 3, 4, 0], await next.ReadAsync(13, 6));
        await next.Volume.DisposeAsync();
    });

    [Fact]
    public void Read_waits_for_writes_that_were_called_before() => DriverWorld.Run(2, static async world =>
    {
        var process = await world.MountAsync();
        world.Regions.IsHeld = true;
        var write = process.WriteAsync(3, 7);
        var read = process.ReadAsync(2, 3);
        await world.SleepAsync(200);
        Assert.False(write.IsCompleted);
        Assert.False(read.IsCompleted);
        world.Regions.Release();
        Assert.Equal([0, 7, 0], await read);
        await write;
    });

    [Fact]
    public void Requests_collect_while_batches_are_under_way() => DriverWorld.Run(3, static async world =>
    {
        var process = await world.MountAsync();
        world.Regions.IsHeld = true;
        var writes = Enumerable.Range(0, 40).Select(i => process.WriteAsync(i, (byte)(i + 1))).ToArray();
        await world.SleepAsync(200);
        world.Regions.Release();
        await Task.WhenAll(writes);
        // Two leave at once, and the rest as one.
        Assert.Equal(3, world.Regions.Proof!.Batch.Number);
        Assert.Equal(Enumerable.Range(1, 40).Select(static i => (byte)i), await process.ReadAsync(0, 40));
    });

    [Fact]
    public void Later_write_of_a_block_in_a_batch_stands() => DriverWorld.Run(4, static async world =>
    {
        var process = await world.MountAsync();
        world.Regions.IsHeld = true;
        Task[] writes =
        [
            process.WriteAsync(60, 1), process.WriteAsync(61, 1), process.WriteAsync(0, 1, 1, 1, 1, 1, 1),
            process.WriteAsync(2, 2, 2), process.ClearAsync(1, 2),
            process.WriteAsync(4, 3),
        ];
        world.Regions.Release();
        await Task.WhenAll(writes);
        Assert.Equal([1, 0, 0, 2, 3, 1], await process.ReadAsync(0, 6));
    });

    [Fact]
    public void Write_larger_than_a_batch_is_split() => DriverWorld.Run(5, static async world =>
    {
        var process = await world.MountAsync();
        var tags = Enumerable.Range(0, 1024).Select(static i => (byte)(i % 251)).ToArray();
        await process.WriteAsync(0, tags);
        Assert.Equal(tags, await process.ReadAsync(0, 1024));
        Assert.True(world.Regions.Proof!.Batch.Number >= 4);
    }, regions: 4, regionBlocks: 256);

    [Fact]
    public void Full_store_refuses_writes_before_the_numbers() => DriverWorld.Run(6, static async world =>
    {
        var process = await world.MountAsync();
        world.Regions.Free = 0;
        await process.WriteAsync(0, 1);
        var refused = await Assert.ThrowsAsync<VolumeException>(() => process.WriteAsync(0, 2));
        Assert.Equal(VolumeFault.OutOfSpace, refused.Fault);
        var full = world.Regions.Log.Nodes.Stores.Values.MinBy(static node => node.Free)!;
        Assert.Contains($"region 0 has no space left (least: {full.Store} at {full.Endpoint})", refused.Message,
            StringComparison.Ordinal);
        await process.Volume.ClearAsync(0, 1, durable: true);
        world.Regions.Free = 1L << 40;
        await world.SleepAsync(2000);
        await process.WriteAsync(0, 3);
        Assert.Equal([3], await process.ReadAsync(0, 1));
        Assert.Equal(1, world.Regions.Log.State.Head.Run);
    });

    [Fact]
    public void Refusal_of_a_member_fails_the_batch_and_all_behind() => DriverWorld.Run(7, static async world =>
    {
        var process = await world.MountAsync();
        await process.WriteAsync(0, 1);
        world.Regions.OnPut = static batch => batch.Header is { Run: 1, Number: 2 } ? Status.NoSpace : null;
        Task[] writes = [process.WriteAsync(1, 2), process.WriteAsync(20, 3), process.WriteAsync(21, 4)];
        foreach (var write in writes)
            Assert.Equal(VolumeFault.OutOfSpace, (await Assert.ThrowsAsync<VolumeException>(() => write)).Fault);
        Assert.Equal([1, 0], await process.ReadAsync(0, 2));
        Assert.Equal([0, 0], await process.ReadAsync(20, 2));
        await process.WriteAsync(1, 5);
        Assert.Equal([1, 5], await process.ReadAsync(0, 2));
        Assert.Equal(2, world.Regions.Log.State.Head.Run);
    });

    [Fact]
    public void Ordered_write_is_acknowledged_before_the_commit() => DriverWorld.Run(8, static async world =>
    {
        world.Options = world.Options with { Acknowledgement = Acknowledgement.Ordered };
        var process = await world.MountAsync();
        world.Regions.IsHeld = true;
        await process.WriteAsync(0, 1);
        var flush = process.Volume.FlushAsync().AsTask();
        var durable = process.Volume.WriteAsync(1, world.Block(2), durable: true).AsTask();
        await world.SleepAsync(100);
        Assert.False(flush.IsCompleted);
        Assert.False(durable.IsCompleted);
        world.Regions.Release();
        await flush;
        await durable;
    });

    [Fact]
    public void Lost_lease_fails_all_calls() => DriverWorld.Run(9, static async world =>
    {
        var process = await world.MountAsync();
        world.Regions.IsHeld = true;
        var write = process.WriteAsync(0, 1);
        await world.SleepAsync(50);
        world.Regions.Log.EndLease();
        Assert.Equal(VolumeFault.LeaseLost, (await Assert.ThrowsAsync<VolumeException>(() => write)).Fault);
        var read = await Assert.ThrowsAsync<VolumeException>(() => process.ReadAsync(0, 1));
        Assert.Equal(VolumeFault.LeaseLost, read.Fault);
        await process.Volume.DisposeAsync();
    });

    [Fact]
    public void Write_without_answers_fails_after_the_patience() => DriverWorld.Run(10, static async world =>
    {
        var process = await world.MountAsync();
        for (var member = 0; member < FakeRegions.Copies; member++)
            world.Regions.Mute.Add(world.Regions.Member(0, member));
        var failed = await Assert.ThrowsAsync<VolumeException>(() => process.WriteAsync(0, 1));
        Assert.Equal(VolumeFault.Unavailable, failed.Fault);
        Assert.Contains(world.Regions.Log.State.Head.Suspicions,
            suspicion => suspicion is { Region: 0, Kind: SuspicionKind.Stall });
    });

    /// <summary>Seed 53 of the simulator: both regions had the batch, one in two members alone, and the leader was
    /// suspected for ever.</summary>
    [Fact]
    public void Region_that_waits_for_a_member_is_suspected_before_the_leader() =>
        DriverWorld.Run(12, static async world =>
        {
            var process = await world.MountAsync();
            world.Regions.IsHeld = true;
            world.Regions.Waiting.Add(1);
            // Two blocks of region 0, which leads, and one of region 1.
            var write = process.WriteAsync(14, [1, 2, 3]);
            await world.SleepAsync(5000);
            Assert.NotEmpty(world.Regions.Log.State.Head.Suspicions);
            Assert.All(world.Regions.Log.State.Head.Suspicions,
                static suspicion => Assert.Equal((1, SuspicionKind.Stall), (suspicion.Region, suspicion.Kind)));
            world.Regions.Release();
            await write;
        });

    [Fact]
    public void Clearing_a_whole_volume_empties_the_regions() => DriverWorld.Run(11, static async world =>
    {
        var process = await world.MountAsync();
        await process.WriteAsync(0, [.. Enumerable.Repeat((byte)9, world.Blocks)]);
        await process.Volume.ClearAsync(0, world.Blocks, durable: true);
        var extents = new BlockExtents();
        await process.Volume.DescribeAsync(0, world.Blocks, 16, extents, CancellationToken.None);
        Assert.Equal(1, extents.Count);
        Assert.Equal(new BlockExtent(world.Blocks, true), extents[0]);
        for (var region = 0; region < 4; region++) Assert.True(world.Regions[region].Root.IsEmpty);
    });
}
