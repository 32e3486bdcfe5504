using Salus.Coordination.Tests.Support;

namespace Salus.Coordination.Tests.Agent;

/// <summary>Agents of processes that share a log.</summary>
public sealed class SalusAgentTests
{
    private static readonly VolumeGeometry s_geometry = VolumeGeometry.Create(4 * 16 * 4096, 4096, 16, 3);

    [Fact]
    public async Task New_volume_gets_regions_and_is_ready()
    {
        await using var world = await AgentWorld.StartAsync(4);
        var entry = await world.RunAsync(world.Admin(1).CreateAsync("disk", s_geometry));
        Assert.Equal(VolumeStage.Ready, entry.Stage);
        var state = (await world.RunAsync(world[2].Map.RefreshAsync(entry.Id)))!;
        Assert.Equal(4, state.Regions.Count);
        foreach (var region in state.Regions.Values)
        {
            Assert.True(region.Current is { IsAdmitted: true, Members.Length: 3 });
            Assert.All(region.Current.Members, member => Assert.True(world[0].Map.View.Nodes.IsLive(member)));
        }

        await world.UntilAsync(() => world[3].Map.Find(entry.Id)?.IsPlaced == true);
    }

    [Fact]
    public async Task Volume_waits_until_there_are_enough_processes()
    {
        await using var world = await AgentWorld.StartAsync(2);
        var admin = world.Admin(0);
        await Assert.ThrowsAsync<SalusRefusedException>(() => world.RunAsync(admin.CreateAsync("disk", s_geometry)));
        var id = new VolumeId(new Guid(5, 0, 0, new byte[8]));
        Assert.Null(await world.RunAsync(world[0].Map.Directory.AddAsync("disk", id, s_geometry)));
        await world.PassAsync(TimeSpan.FromSeconds(20));
        var status = await world.RunAsync(admin.StatusAsync("disk"));
        Assert.Equal(VolumeHealth.Creating, status.Health);
        Assert.Contains("3 processes are needed and 2 live", Assert.Single(status.Notes), StringComparison.Ordinal);
        await world.StartProcessAsync(2);
        await world.UntilAsync(() => world[1].Map.View.Entries["disk"].Stage == VolumeStage.Ready);
        Assert.True(world[1].Map.Find(id)!.IsPlaced);
    }

    [Fact]
    public async Task Members_that_are_gone_are_replaced_by_the_next_leader()
    {
        await using var world = await AgentWorld.StartAsync(5);
        var entry = await world.RunAsync(world.Admin(1).CreateAsync("disk", s_geometry));
        var leader = (await world.LeaderAsync()).Number;
        world.Kill(leader);
        var witness = Enumerable.Range(0, 5).First(number => number != leader);
        var dead = TestVolume.Store(leader);
        await world.UntilAsync(() => world[witness].Map.Find(entry.Id)!.Regions.Values.All(
            region => region.Current.Members.All(member => member.Store != dead)));
        Assert.NotEqual(leader, (await world.LeaderAsync()).Number);
        foreach (var region in world[witness].Map.Find(entry.Id)!.Regions.Values)
        {
            Assert.Contains(region.Generations, generation => generation.Number == Epoch.First);
            Assert.InRange(region.Current.Number.Value, 1, 2);
        }
    }

    [Fact]
    public async Task Regions_stay_on_the_same_stores_behind_a_log_that_was_away_for_longer_than_the_lease()
    {
        await using var world = await AgentWorld.StartAsync(5);
        var entry = await world.RunAsync(world.Admin(0).CreateAsync("disk", s_geometry));
        var placed = world[0].Map.Find(entry.Id)!.Regions;
        var before = Enumerable.Range(0, 5).Select(number => world[number].Lease.Incarnation).ToArray();
        for (var i = 0; i < 5; i++) world[i].Process.Connection.Lose();
        await world.PassAsync(2 * AgentWorld.TimeToLive);
        for (var i = 0; i < 5; i++)
        {
            Assert.False(world[i].Lease.IsHeld);
            Assert.True(world[i].Lease.Incarnation.IsNone);
            Assert.False(world[i].Lease.Holds(before[i]));
        }

        // The processes reach the log one after the other.
        for (var i = 0; i < 5; i++)
        {
            world[i].Process.Connection.Restore();
            await world.PassAsync(TimeSpan.FromMilliseconds(200));
        }

        await world.UntilAsync(() => Enumerable.Range(0, 5).All(number => world[number].Lease.IsHeld));
        await world.UntilAsync(() => world[1].Map.Find(entry.Id)!.Regions.Values.All(
            region => region.Current.Members.All(world[1].Map.View.Nodes.IsLive)));
        // The stores are the same, the names under which they sign are not (S7).
        foreach (var (number, region) in world[1].Map.Find(entry.Id)!.Regions)
        {
            Assert.DoesNotContain(region.Current.Members, member => before.Contains(member.Incarnation));
            Assert.Equal(placed[number].Current.Members.Select(static member => member.Store.Value).Order(),
                region.Current.Members.Select(static member => member.Store.Value).Order());
        }
    }

    [Fact]
    public async Task Process_that_neither_seals_nor_dies_is_expelled()
    {
        await using var world = await AgentWorld.StartAsync(4);
        var entry = await world.RunAsync(world.Admin(0).CreateAsync("disk", s_geometry));
        var region = world[0].Map.Find(entry.Id)!.Regions[0];
        var accused = region.Current.Members.First(member => member.Store != TestVolume.Store(0));
        world.Nodes.Refusing.Add(accused.Store);
        var volume = world[0].Map.ObjectOf(entry.Id)!;
        Assert.Null(await world.RunAsync(volume.SuspectAsync(new Suspicion(
            0, region.Current.Number, accused.Incarnation, SuspicionKind.WrongAnswer, Now(world)))));
        await world.UntilAsync(() => world[0].Map.Find(entry.Id)!.Regions[0].Current.Find(accused.Incarnation) is null);
        Assert.Equal(BookedState.Live, world[0].Map.View.Nodes.Find(accused.Store)!.State);
        await world.UntilAsync(() =>
            !world[0].Map.View.Nodes.MayLive(accused.Store, accused.Incarnation));
        Assert.Contains(world.Nodes.Seals, seal => seal.Store == accused.Store && seal.Region.Region == 0);
        // The process lives, and comes back under another name.
        await world.UntilAsync(() => world[0].Map.View.Nodes.Find(accused.Store)!.State == BookedState.Live);
    }

    /// <summary>A generation that is not opened needs members whose stores take the copies of its recovery.</summary>
    [Fact]
    public async Task Member_whose_store_is_full_is_replaced_where_a_recovery_waits_for_room()
    {
        await using var world = await AgentWorld.StartAsync(5);
        var entry = await world.RunAsync(world.Admin(0).CreateAsync("disk", s_geometry));
        var current = world[0].Map.Find(entry.Id)!.Regions[0].Current;
        var (accused, full) = (current.Members[0], current.Members[1]);
        world.Nodes.Full.Add(full.Incarnation);
        var volume = world[0].Map.ObjectOf(entry.Id)!;
        Assert.Null(await world.RunAsync(volume.SuspectAsync(new Suspicion(
            0, current.Number, accused.Incarnation, SuspicionKind.WrongAnswer, Now(world)))));
        await world.UntilAsync(() => world[0].Map.Find(entry.Id)!.Regions[0].Current.Number > current.Number.Next);
        var members = world[0].Map.Find(entry.Id)!.Regions[0].Current.Members;
        Assert.DoesNotContain(members, member => member.Store == full.Store);
        Assert.Contains(members, member => member.Store == current.Members[2].Store);
    }

    [Fact]
    public async Task Name_of_a_deleted_volume_is_free_when_no_store_holds_anything()
    {
        await using var world = await AgentWorld.StartAsync(3);
        var admin = world.Admin(0);
        var entry = await world.RunAsync(admin.CreateAsync("disk", s_geometry));
        world.Nodes.Holding[TestVolume.Store(1)] = entry.Id;
        await world.RunAsync(admin.DeleteAsync("disk"));
        await world.PassAsync(TimeSpan.FromSeconds(20));
        Assert.Equal(VolumeHealth.Deleting, (await world.RunAsync(admin.StatusAsync("disk"))).Health);
        Assert.True(world[2].Map.View.MayForget(new RegionKey(entry.Id, 0), TestVolume.Store(1)));
        world.Nodes.Holding.Clear();
        await world.RunAsync(admin.WaitUntilGoneAsync("disk", entry.Id));
        await world.UntilAsync(() => world[2].Map.Find(entry.Id) is null);
        var next = await world.RunAsync(admin.CreateAsync("disk", s_geometry));
        Assert.NotEqual(entry.Id, next.Id);
    }

    [Fact]
    public async Task Deletion_waits_for_a_store_that_is_away_until_an_operator_forgets_the_store()
    {
        await using var world = await AgentWorld.StartAsync(4);
        var admin = world.Admin(0);
        var entry = await world.RunAsync(admin.CreateAsync("disk", s_geometry));
        world.Kill(3);
        await world.RunAsync(admin.DeleteAsync("disk"));
        await world.PassAsync(TimeSpan.FromSeconds(20));
        var status = await world.RunAsync(admin.StatusAsync("disk"));
        Assert.Contains($"store {TestVolume.Store(3)}", Assert.Single(status.Notes), StringComparison.Ordinal);
        await world.RunAsync(admin.ForgetStoreAsync(TestVolume.Store(3)));
        await world.RunAsync(admin.WaitUntilGoneAsync("disk", entry.Id));
    }

    private static long Now(AgentWorld world) => world.Host.Time.GetUtcNow().ToUnixTimeMilliseconds();
}
