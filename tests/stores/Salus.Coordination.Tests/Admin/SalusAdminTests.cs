using Salus.Coordination.Tests.Support;
using Tango;
using Tango.Collections;
using static Salus.Coordination.Tests.Support.TestVolume;

namespace Salus.Coordination.Tests.Admin;

/// <summary>Operators' commands.</summary>
public sealed class SalusAdminTests
{
    private static readonly VolumeGeometry s_geometry = VolumeGeometry.Create(2 * 16 * 4096, 4096, 16, 2);

    [Fact]
    public async Task Volume_has_a_name_and_a_condition()
    {
        await using var world = await AgentWorld.StartAsync(3);
        var admin = world.Admin(0);
        await world.RunAsync(admin.CreateAsync("b", s_geometry));
        await world.RunAsync(admin.CreateAsync("a", s_geometry));
        await RefusedAsync(world, admin.CreateAsync("a", s_geometry), "another name");
        await RefusedAsync(world, admin.CreateAsync("a@b", s_geometry), "separates a volume from its snapshot");
        await RefusedAsync(world, admin.StatusAsync("c"), "no volume c");
        await RefusedAsync(world, admin.DeleteAsync("c"), "no volume c");
        var list = await world.RunAsync(world.Admin(2).ListAsync());
        Assert.Equal(["a", "b"], list.Select(static volume => volume.Name));
        Assert.All(list, static volume => Assert.Equal((VolumeHealth.Ready, 0), (volume.Health, volume.Notes.Length)));
        Assert.Equal(3, (await world.RunAsync(admin.NodesAsync())).Stores.Count);
        await RefusedAsync(world, admin.ForgetStoreAsync(Store(0)), "stop it first");
    }

    [Fact]
    public async Task Region_in_recovery_and_one_without_processes_are_told()
    {
        await using var world = await AgentWorld.StartAsync(3);
        var admin = world.Admin(0);
        var entry = await world.RunAsync(admin.CreateAsync("disk", s_geometry));
        world.Kill(2);
        await world.UntilAsync(() => world[0].Map.Find(entry.Id)!.Regions.Values.All(region =>
            region.Current.Members.All(static member => member.Store != Store(2))));
        var moved = world[0].Map.Find(entry.Id)!.Regions.Where(static region => region.Value.Current.Opening is null)
            .Select(static region => region.Key).ToArray();
        string[] told = moved.Length switch
        {
            0 => [],
            1 => [$"region {moved[0]}: recovery to generation 2"],
            _ => ["regions 0 to 1: recovery to generation 2"],
        };
        Assert.Equal(told, (await world.RunAsync(admin.StatusAsync("disk"))).Notes);
        world.Kill(1);
        await world.UntilAsync(() => world[0].Map.View.Nodes.Find(Store(1))!.State == BookedState.Gone);
        var status = await world.RunAsync(admin.StatusAsync("disk"));
        Assert.Equal(VolumeHealth.Waiting, status.Health);
        Assert.All(status.Notes, static note => Assert.Contains("2 processes are needed and 1 live", note,
            StringComparison.Ordinal));

        // A tool that has just begun to follow the log does not call a volume ready that it has not seen.
        var tool = world.Host.Start();
        var map = await world.RunAsync(VolumeMap.OpenAsync(tool.Runtime, world.Host.Time, LoopContext.Pool));
        var list = await world.RunAsync(
            new SalusAdmin(tool.Runtime, map, world.Host.Time, SystemEntropy.Instance).ListAsync());
        Assert.Equal(VolumeHealth.Waiting, Assert.Single(list).Health);
        await world.RunAsync(map.DisposeAsync().AsTask());
    }

    [Fact]
    public async Task Volume_that_is_mounted_is_not_deleted()
    {
        await using var world = await AgentWorld.StartAsync(2);
        var admin = world.Admin(0);
        var entry = await world.RunAsync(admin.CreateAsync("disk", s_geometry));
        var mutex = await LockAsync(world, entry);
        var held = await world.RunAsync(mutex.AcquireAsync(TimeSpan.FromSeconds(10), "driver"));
        await RefusedAsync(world, admin.DeleteAsync("disk"), "unmount it first");
        await world.RunAsync(held.DisposeAsync().AsTask());
        Assert.Equal(VolumeStage.Deleting, (await world.RunAsync(admin.DeleteAsync("disk"))).Stage);
        await world.RunAsync(admin.WaitUntilGoneAsync("disk", entry.Id));
    }

    [Fact]
    public async Task Snapshot_is_made_by_the_writer()
    {
        await using var world = await AgentWorld.StartAsync(2);
        var admin = world.Admin(0);
        var entry = await world.RunAsync(admin.CreateAsync("disk", s_geometry));
        await RefusedAsync(world, admin.SnapshotAsync("disk", "snap"), "not mounted");
        var mutex = await LockAsync(world, entry);
        await world.RunAsync(mutex.AcquireAsync(TimeSpan.FromSeconds(10), "driver"));
        var volume = world[1].Map.ObjectOf(entry.Id)!;
        await OpenAsync(world, volume, null, null);

        var made = admin.SnapshotAsync("disk", "snap");
        await world.UntilAsync(() => world[1].Map.Find(entry.Id)!.Head.Snapshots.Length == 1);
        Assert.Equal(SnapshotState.Wanted, world[1].Map.Find(entry.Id)!.Head.Snapshots[0].State);
        var model = new TestVolume { State = await world.RunAsync(volume.StateAsync()) };
        Assert.Null(await world.RunAsync(volume.RecordSnapshotAsync(
            1, "snap", Batch(1, 5), Root(5), model.Proof(0, Batch(1, 5)))));
        Assert.Equal(Batch(1, 5), (await world.RunAsync(made)).Marker);
        await RefusedAsync(world, admin.SnapshotAsync("disk", "snap"), "take another name");
        Assert.Single(await world.RunAsync(admin.SnapshotsAsync("disk")));
        await world.RunAsync(admin.DeleteSnapshotAsync("disk", "snap"));
        Assert.Empty(await world.RunAsync(admin.SnapshotsAsync("disk")));
        await RefusedAsync(world, admin.DeleteSnapshotAsync("disk", "snap"), "lists its snapshots");
    }

    [Fact]
    public async Task Loss_is_accepted_where_a_volume_waits_and_told_for_ever()
    {
        await using var world = await AgentWorld.StartAsync(2);
        var admin = world.Admin(0);
        var entry = await world.RunAsync(admin.CreateAsync("disk", s_geometry));
        await RefusedAsync(world, admin.AcceptLossAsync("disk", "anna"), "does not wait");
        var volume = world[0].Map.ObjectOf(entry.Id)!;
        var model = new TestVolume { State = await world.RunAsync(volume.StateAsync()) };
        // Region 0 has batch 3 and its proof; region 1, which takes part in it, ends at batch 2.
        await OpenAsync(world, volume, new RegionReport(
            1, model.Proof(0, Batch(1, 3)), Reported(1, 3, 0, 1), []),
            new RegionReport(1, null, null, [Reported(1, 1, 0, 1), Reported(1, 2, 0, 1)]));
        var waiting = await world.RunAsync(admin.StatusAsync("disk"));
        Assert.Equal(VolumeHealth.Waiting, waiting.Health);
        Assert.Contains("region 1: 3 is proven committed, 2 is there", Assert.Single(waiting.Notes),
            StringComparison.Ordinal);

        var loss = await world.RunAsync(admin.AcceptLossAsync("disk", "anna"));
        Assert.Equal((Batch(1, 2), Batch(1, 3)), (loss.Kept, loss.Proven));
        var state = await world.RunAsync(volume.StateAsync());
        Assert.Equal((RunPhase.Decided, loss), (state.Head.Phase, Assert.Single(state.Head.Losses)));
        Assert.Equal(Root(2), state.Head.Decision!.VolumeRoot);
        Assert.Contains("batches 3 to 3 were given up by anna",
            Assert.Single((await world.RunAsync(admin.StatusAsync("disk"))).Notes), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Loss_shown_by_roots_is_accepted_at_the_last_batch_shown()
    {
        await using var world = await AgentWorld.StartAsync(2);
        var admin = world.Admin(0);
        var entry = await world.RunAsync(admin.CreateAsync("disk", s_geometry));
        var volume = world[0].Map.ObjectOf(entry.Id)!;
        var model = new TestVolume { State = await world.RunAsync(volume.StateAsync()) };
        await OpenAsync(world, volume, new RegionReport(1, model.Proof(0, Batch(1, 3)), Reported(1, 3, 0), []),
            new RegionReport(1, null, null, []));
        await RefusedAsync(world, admin.AcceptLossAsync("disk", "anna"), "does not wait");
        Assert.Null(await world.RunAsync(volume.LackAsync(1, [1], new ShownBatch(Batch(1, 1), Root(1)), [1, 1])));
        Assert.Contains("region 1: 3 is proven committed, 1 is there",
            Assert.Single((await world.RunAsync(admin.StatusAsync("disk"))).Notes), StringComparison.Ordinal);
        Assert.Equal(Batch(1, 1), (await world.RunAsync(admin.AcceptLossAsync("disk", "anna"))).Kept);
        Assert.Equal(Root(1), (await world.RunAsync(volume.StateAsync())).Head.Decision!.VolumeRoot);
    }

    // Begins run 1, with what the regions report.
    private static async Task OpenAsync(
        AgentWorld world, SalusVolume volume, RegionReport? first, RegionReport? second)
    {
        var model = new TestVolume { State = await world.RunAsync(volume.StateAsync()) };
        Assert.Null((await world.RunAsync(volume.BeginRunAsync(1, Driver))).Refusal);
        var reports = new[] { first, second };
        for (var region = 0; region < 2; region++)
        {
            var report = reports[region] ?? new RegionReport(1, null, null, []);
            Assert.Null(await world.RunAsync(volume.ReportAsync(region, 1, report, model.Sign(region,
                (key, generation) => Statement.Report(key, generation, report.Digest)))));
        }

        if (first is null) Assert.Null(await world.RunAsync(volume.OpenedAsync(1, default, [1, 1])));
    }

    private static Task<TangoLock> LockAsync(AgentWorld world, VolumeEntry entry) => world.RunAsync(
        world[1].Process.Runtime.OpenAsync<TangoLock>(SalusVolume.LockOf(entry.Id), OpenMode.Create));

    private static async Task RefusedAsync(AgentWorld world, Task call, string words)
    {
        var refused = await Assert.ThrowsAsync<SalusRefusedException>(() => world.RunAsync(call));
        Assert.Contains(words, refused.Message, StringComparison.Ordinal);
    }
}
