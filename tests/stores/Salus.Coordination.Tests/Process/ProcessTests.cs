using Microsoft.Extensions.Logging.Abstractions;
using Salus.Coordination.Tests.Support;

namespace Salus.Coordination.Tests.Process;

/// <summary>A process's lease, and its map of nodes and volumes.</summary>
public sealed class ProcessTests
{
    private static readonly VolumeGeometry s_geometry = VolumeGeometry.Create(2 * 16 * 4096, 4096, 16, 2);
    private static readonly VolumeId s_unknown = new(new Guid(9, 9, 9, new byte[8]));

    [Fact]
    public async Task Process_that_loses_the_lease_takes_another_incarnation()
    {
        await using var world = await AgentWorld.StartAsync(2);
        var (lease, book) = (world[0].Lease, world[1].Map);
        var before = lease.Incarnation;
        var changes = new List<Incarnation>();
        lease.Changed += () => changes.Add(lease.Incarnation);
        Assert.True(lease.Holds(before));
        world[0].Process.Connection.Lose();
        await world.UntilAsync(() => book.View.Nodes.Find(TestVolume.Store(0))!.State == BookedState.Gone);
        // Others count it as gone behind the end of the lease here (S8).
        Assert.False(lease.IsHeld || lease.Holds(before));
        world[0].Process.Connection.Restore();
        await world.UntilAsync(() => lease.IsHeld);
        Assert.NotEqual(before, lease.Incarnation);
        Assert.Equal([default, lease.Incarnation], changes);
        await world.UntilAsync(() => book.View.Nodes.MayLive(TestVolume.Store(0), lease.Incarnation));
    }

    [Fact]
    public async Task Process_that_stops_is_gone_at_once()
    {
        await using var world = await AgentWorld.StartAsync(2);
        var lease = world[0].Lease;
        await world.RunAsync(lease.DisposeAsync().AsTask());
        Assert.True(lease.Incarnation.IsNone);
        var nodes = await world.RunAsync(world[1].Map.RefreshNodesAsync());
        Assert.Equal(BookedState.Gone, nodes.Find(TestVolume.Store(0))!.State);
    }

    [Fact]
    public async Task Free_space_is_told_when_much_has_changed()
    {
        await using var world = await AgentWorld.StartAsync(2);
        var store = TestVolume.Store(0);
        var free = world[1].Map.View.Nodes.Find(store)!.Free;
        world[0].Lease.SetFree(free - 1);
        await world.PassAsync(TimeSpan.FromSeconds(20));
        Assert.Equal(free, world[1].Map.View.Nodes.Find(store)!.Free);
        world[0].Lease.SetFree(free / 2);
        await world.UntilAsync(() => world[1].Map.View.Nodes.Find(store)!.Free == free / 2);
    }

    [Fact]
    public async Task Region_servers_see_a_volume_until_an_operator_deletes_the_volume()
    {
        await using var world = await AgentWorld.StartAsync(3);
        using var map = new RegionMap(world[1].Map, world[1].Lease, world[1].Lease.Incarnation);
        var changes = new HashSet<VolumeId>();
        map.Changed += volume =>
        {
            lock (changes) changes.Add(volume);
        };
        var entry = await world.RunAsync(world.Admin(0).CreateAsync("disk", s_geometry));
        var state = (await world.RunAsync(map.RefreshAsync(entry.Id)))!;
        Assert.Equal(2, state.Regions.Count);
        Assert.Equal([entry.Id], map.Volumes);
        Assert.Equal(state.Revision, map.Find(entry.Id)!.Revision);
        Assert.True(world[1].Map.View.IsRecorded(new RegionKey(entry.Id, 1), Epoch.First));
        Assert.False(world[1].Map.View.IsRecorded(new RegionKey(entry.Id, 1), Epoch.First.Next));
        Assert.Contains(entry.Id, changes);
        Assert.Contains("no member", await world.RunAsync(map.FillAsync(
            new RegionKey(entry.Id, 0), Epoch.First, TestVolume.Name(99))), StringComparison.Ordinal);
        await world.RunAsync(world.Admin(0).DeleteAsync("disk"));
        await world.UntilAsync(() => map.Find(entry.Id) is null && map.Volumes.Count == 0);
        await world.UntilAsync(() => world[1].Map.View.Volumes.IsEmpty);
        Assert.Null(await world.RunAsync(map.RefreshAsync(entry.Id)));
    }

    [Fact]
    public async Task Map_of_an_incarnation_ends_with_the_lease()
    {
        await using var world = await AgentWorld.StartAsync(2);
        using var map = new RegionMap(world[0].Map, world[0].Lease, world[0].Lease.Incarnation);
        Assert.True(map.IsHeld);
        var changes = 0;
        map.Changed += volume => changes += volume == default ? 1 : 0;
        world[0].Process.Connection.Lose();
        await world.UntilAsync(() => changes > 0);
        Assert.False(map.IsHeld);
        world[0].Process.Connection.Restore();
        await world.UntilAsync(() => world[0].Lease.IsHeld);
        // The lease is another incarnation's.
        Assert.False(map.IsHeld);
        Assert.Null(await world.RunAsync(map.RefreshAsync(s_unknown)));
        Assert.Contains("not known", await world.RunAsync(map.FillAsync(
            new RegionKey(s_unknown, 0), Epoch.First, TestVolume.Name(1))), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Log_that_is_away_is_told_by_the_lease()
    {
        await using var world = await AgentWorld.StartAsync(1);
        var process = world.Host.Start();
        var map = await world.RunAsync(VolumeMap.OpenAsync(process.Runtime, world.Host.Time, LoopContext.Pool));
        process.Connection.Lose();
        var lease = new NodeLease(map.Book, new NodeRegistration(TestVolume.Store(7), AgentWorld.Endpoint(7), "", 1,
            AgentWorld.TimeToLive), world.Host.Time, SystemEntropy.Instance, LoopContext.Pool, NullLogger.Instance);
        await world.UntilAsync(() => lease.Failure is not null);
        Assert.False(lease.IsHeld);
        process.Connection.Restore();
        await world.UntilAsync(() => lease.IsHeld);
        Assert.Null(lease.Failure);
        await world.RunAsync(lease.DisposeAsync().AsTask());
        await world.RunAsync(map.DisposeAsync().AsTask());
    }
}
