using Salus.Client.Tests.Support;
using Salus.Coordination.Rules;

namespace Salus.Client.Tests;

public sealed class ResumeTests
{
    [Fact]
    public void Region_with_all_batches_is_admitted_and_goes_on() => DriverWorld.Run(1, static async world =>
    {
        var process = await world.MountAsync();
        await process.WriteAsync(0, 1);
        await world.Regions.ReplaceAsync(0);
        await process.WriteAsync(1, 2);
        Assert.Equal([1, 2], await process.ReadAsync(0, 2));
        Assert.True(world.Regions.Log.State.Regions[0].Current is { IsAdmitted: true, Number.Value: 2 });
    });

    [Fact]
    public void Region_that_lacks_an_acknowledged_batch_is_recovered_again() => DriverWorld.Run(2, static async world =>
    {
        var process = await world.MountAsync();
        await process.WriteAsync(0, 1);
        await world.Regions.ReplaceAsync(0, lost: 1);
        await process.WriteAsync(1, 2);
        Assert.Equal([1, 2], await process.ReadAsync(0, 2));
        Assert.True(world.Regions.Log.State.Regions[0].Current is { IsAdmitted: true, Number.Value: 3 });
    });

    [Fact]
    public void Writes_under_way_go_to_the_new_generation() => DriverWorld.Run(3, static async world =>
    {
        var process = await world.MountAsync();
        world.Regions.IsHeld = true;
        Task[] writes = [process.WriteAsync(15, 1, 1), process.WriteAsync(0, 2), process.WriteAsync(17, 3)];
        await world.SleepAsync(20);
        await world.Regions.ReplaceAsync(0);
        await world.Regions.ReplaceAsync(1);
        world.Regions.Release();
        await Task.WhenAll(writes);
        Assert.Equal([2], await process.ReadAsync(0, 1));
        Assert.Equal([1, 1, 3], await process.ReadAsync(15, 3));
    });

    [Fact]
    public void Second_writer_takes_over_and_the_first_one_is_fenced() => DriverWorld.Run(4, static async world =>
    {
        var first = await world.MountAsync();
        await first.WriteAsync(0, 1);
        world.Regions.IsHeld = true;
        var lost = first.WriteAsync(1, 2);
        await world.SleepAsync(30);
        // The lock has ended, and its holder does not know.
        var kept = world.Regions.Log;
        first.Kill();
        world.Regions.IsHeld = false;
        var second = await world.MountAsync();
        await Assert.ThrowsAsync<VolumeException>(() => lost);
        // All participants had the batch of the dead process: it is committed.
        Assert.Equal([1, 2], await second.ReadAsync(0, 2));
        await second.WriteAsync(2, 3);
        Assert.Equal(2, kept.State.Head.Run);
    });

    [Fact]
    public void Notes_tell_the_proof_and_the_stable_point() => DriverWorld.Run(5, static async world =>
    {
        var process = await world.MountAsync();
        await process.WriteAsync(0, 1);
        await process.WriteAsync(20, 2);
        await process.WriteAsync(1, 3);
        await world.SleepAsync(2500);
        Assert.Equal((3L, 0L), (world.Regions.Log.State.Head.Note!.Batch.Number, world.Regions.Log.State.Head.Stable));
        world.Regions[1].Cut();
        await world.SleepAsync(1500);
        Assert.Equal(0, world.Regions.Log.State.Head.Stable);
        world.Regions[0].Cut();
        await world.SleepAsync(1500);
        Assert.Equal(3, world.Regions.Log.State.Head.Stable);
    });

    [Fact]
    public void Snapshot_shows_the_volume_as_of_the_marker() => DriverWorld.Run(6, static async world =>
    {
        var process = await world.MountAsync();
        await process.WriteAsync(14, 1, 2, 3, 4);
        await process.Volume.SnapshotAsync("one", CancellationToken.None);
        await process.WriteAsync(15, 9, 9);
        await process.Volume.ClearAsync(14, 1, durable: true);
        await world.SleepAsync(100);
        Assert.Equal(SnapshotState.Complete, Assert.Single(world.Regions.Log.State.Head.Snapshots).State);
        await using var snapshot = await world.MountSnapshotAsync("one");
        var data = new byte[6 * 4096];
        await snapshot.ReadAsync(13, data, null, CancellationToken.None);
        Assert.Equal([0, 1, 2, 3, 4, 0], Enumerable.Range(0, 6).Select(i => data[i * 4096]));
        Assert.Equal([0, 9, 9, 4], await process.ReadAsync(14, 4));
        Assert.True(snapshot.IsReadOnly);
        Assert.Throws<VolumeException>(() => _ = snapshot.ClearAsync(0, 1, durable: true));
    });

    [Fact]
    public void Snapshot_that_an_operator_wants_is_taken_by_the_process_that_has_the_volume() => DriverWorld.Run(7,
        static async world =>
        {
            var process = await world.MountAsync();
            await process.WriteAsync(3, 1);
            Assert.Null(world.Regions.Log.Take(SnapshotRules.Want(world.Regions.Log.State, "nightly")));
            Assert.Equal(SnapshotState.Wanted, Assert.Single(world.Regions.Log.State.Head.Snapshots).State);
            await world.SleepAsync(1500);
            var snapshot = Assert.Single(world.Regions.Log.State.Head.Snapshots);
            Assert.Equal(("nightly", SnapshotState.Complete), (snapshot.Name, snapshot.State));
            await process.WriteAsync(3, 2);
            Assert.Equal([2], await process.ReadAsync(3, 1));
        });

    /// <summary>A mount right behind the request was refused until the regions had their checkpoints.</summary>
    [Fact]
    public void Mount_waits_until_the_snapshot_is_taken() => DriverWorld.Run(8, static async world =>
    {
        var process = await world.MountAsync();
        await process.WriteAsync(3, 1);
        Assert.Null(world.Regions.Log.Take(SnapshotRules.Want(world.Regions.Log.State, "nightly")));
        Assert.Equal(SnapshotState.Wanted, Assert.Single(world.Regions.Log.State.Head.Snapshots).State);
        await using var snapshot = await world.MountSnapshotAsync("nightly");
        var data = new byte[4096];
        await snapshot.ReadAsync(3, data, null, CancellationToken.None);
        Assert.Equal(1, data[0]);
    });

    [Fact]
    public void Mount_of_a_snapshot_that_no_writer_takes_fails_after_the_patience() => DriverWorld.Run(9,
        static async world =>
        {
            Assert.Null(world.Regions.Log.Take(SnapshotRules.Want(world.Regions.Log.State, "nightly")));
            var failure = await Assert.ThrowsAsync<VolumeException>(() => world.MountSnapshotAsync("nightly"));
            Assert.Equal(VolumeFault.Unavailable, failure.Fault);
            Assert.Contains("still being taken", failure.Message, StringComparison.Ordinal);
        });
}
