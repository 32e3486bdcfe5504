using Corfu;
using static Tango.Tests.RawRecords;

namespace Tango.Tests.Checkpoints;

/// <summary>Checkpoints of objects that the runtime does not have open.</summary>
public class UnhostedCheckpointTests
{
    private static readonly TangoOptions s_often =
        new() { NewLogMaxSpan = 1, Checkpoints = new CheckpointPolicy { Updates = 10 } };

    private static readonly TangoOptions s_onDemand = s_often with { Checkpoints = null };

    [Fact]
    public void An_object_is_checkpointed_by_name() => SeededContext.Run(1, async time =>
    {
        await using var world = new World(time: time);
        var (host, accounts) = await OpenAsync(world, "accounts", s_onDemand);
        await accounts.SetAsync("x", 1);
        var runtime = world.NewRuntime(s_onDemand with { Types = new TangoTypeRegistry().Add<Accounts>() });
        var tail = await world.TailAsync();
        var first = await runtime.Checkpoints.WriteAsync("accounts");
        Assert.True(first >= tail);
        await accounts.SetAsync("x", 2);
        var second = await runtime.Checkpoints.WriteAsync("accounts");
        await accounts.SetAsync("y", 3);
        // Open, it is checkpointed as with its handle.
        var third = await host.Checkpoints.WriteAsync("accounts");
        Assert.True(first < second && second < third);
        await host.DisposeAsync();
        await TrimAsync(world, runtime, "accounts");
        var (_, late) = await OpenAsync(world, "accounts", s_onDemand);
        Assert.Equal(2, await late.BalanceAsync("x"));
        Assert.Equal(3, await late.BalanceAsync("y"));
    });

    [Fact]
    public void A_group_is_checkpointed_as_a_whole() => SeededContext.Run(2, async time =>
    {
        await using var world = new World(time: time);
        var host = world.NewRuntime(s_onDemand);
        Accounts a = null!, b = null!;
        await host.OpenGroupAsync("pair", group => (a, b) = (group.Add<Accounts>("a"), group.Add<Accounts>("b")));
        await a.SetAsync("x", 1);
        await b.SetAsync("x", 2);
        await host.DisposeAsync();
        var runtime = world.NewRuntime(s_onDemand with { Types = new TangoTypeRegistry().Add<Accounts>() });
        await runtime.Checkpoints.WriteAsync("b");
        await runtime.Checkpoints.WriteAsync("a");
        await TrimAsync(world, runtime, "a");
        Assert.Equal(2, await (await runtime.OpenAsync<Accounts>("b", OpenMode.Create)).BalanceAsync("x"));
        Assert.Equal(1, await (await runtime.OpenAsync<Accounts>("a", OpenMode.Create)).BalanceAsync("x"));
    });

    [Fact]
    public async Task A_name_or_type_that_is_not_known_is_a_typed_error()
    {
        await using var world = new World();
        await OpenAsync(world, "accounts", s_onDemand);
        var stranger = world.NewRuntime(s_onDemand with { Types = new TangoTypeRegistry() });
        Assert.Contains("test-accounts", (await Assert.ThrowsAsync<TangoDirectoryException>(
            async () => await stranger.Checkpoints.WriteAsync("accounts"))).Message);
        Assert.Contains("'nothing'", (await Assert.ThrowsAsync<TangoObjectNotFoundException>(
            async () => await stranger.Checkpoints.WriteAsync("nothing"))).Message);
    }

    [Fact]
    public void One_that_is_deleted_meanwhile_or_has_stopped_is_not_written() => SeededContext.Run(3, async time =>
    {
        await using var world = new World(time: time);
        var fragile = await world.NewRuntime(s_onDemand).OpenAsync<Fragile>("fragile", OpenMode.Create);
        await fragile.PutAsync(13);
        var runtime = world.NewRuntime(s_onDemand with { Types = new TangoTypeRegistry().Add<Fragile>() });
        await Assert.ThrowsAsync<TangoObjectStoppedException>(
            async () => await runtime.Checkpoints.WriteAsync("fragile"));
        Assert.Empty(await world.CheckpointEntriesAsync(256));
    });

    /// <summary>No runtime made checkpoints of them, and all that came after them stayed.</summary>
    [Fact]
    public void Objects_that_no_runtime_has_open_do_not_hold_the_log() => SeededContext.Run(4, async time =>
    {
        await using var world = new World(time: time);
        for (var i = 0; i < 3; i++)
        {
            var (host, unhosted) = await OpenAsync(world, $"unhosted {i}", s_onDemand);
            await unhosted.SetAsync("x", i);
            await host.DisposeAsync();
        }

        var (runtime, accounts) = await OpenAsync(world, "accounts", s_often);
        await UpdateAsync(accounts, 20, time);
        var tail = await world.TailAsync();
        var point = await runtime.Log.ReadTrimPointAsync();
        Assert.True(tail - point.Released < 100, $"{point.Released} of {tail}");
        await world.Log.TrimPrefixAsync(point.Released);
        for (var i = 0; i < 3; i++)
        {
            var (_, late) = await OpenAsync(world, $"unhosted {i}", s_onDemand);
            Assert.Equal(i, await late.BalanceAsync("x"));
        }
    });

    [Fact]
    public void One_whose_type_is_not_known_is_told_to_hold_the_log() => SeededContext.Run(5, async time =>
    {
        await using var world = new World(time: time);
        var strange = world.NewRuntime(s_onDemand);
        await (await strange.OpenAsync<Fragile>("strange", OpenMode.Create)).PutAsync(1);
        await strange.DisposeAsync();
        var (runtime, accounts) = await OpenAsync(world, "accounts", s_often);
        await UpdateAsync(accounts, 20, time);
        Assert.Equal("strange", (await runtime.Log.ReadTrimPointAsync()).Claims[0].Name);
        Assert.Empty(await world.CheckpointEntriesAsync(256));
    });

    /// <summary>The runtime's own objects have no updates; claims of others wait for its checkpoints.</summary>
    [Fact]
    public void Runtime_checkpoints_idle_objects_once_the_log_has_grown() =>
        SeededContext.Run(6, async time =>
    {
        await using var world = new World(time: time);
        var idle = await world.NewRuntime(s_often).OpenAsync<Fragile>("idle", OpenMode.Create);
        await idle.PutAsync(1);
        var (busy, accounts) = await OpenAsync(world, "accounts", s_onDemand);
        for (var i = 0; i < 4200; i++) await accounts.SetAsync("a", i);
        await busy.Checkpoints.WriteAsync(accounts);
        Assert.Equal(1, await idle.SumAsync());
        await Task.Delay(TimeSpan.FromSeconds(1), time);
        Assert.NotEmpty(await world.CheckpointEntriesAsync(256));
    });

    /// <summary>A dead client's transaction read objects of two programs and wrote an object of neither. None was
    /// blocked by it, so none decided it, and it held both claims for ever.</summary>
    [Fact]
    public void A_record_that_no_host_can_decide_does_not_hold_claims() => SeededContext.Run(7, async time =>
    {
        await using var world = new World(time: time);
        var (first, accounts) = await OpenAsync(world, "first", s_onDemand);
        var (second, others) = await OpenAsync(world, "second", s_onDemand);
        await first.OpenWriteOnlyAsync<Accounts>("third", OpenMode.Create);
        var commit = await world.TailAsync();
        await world.Log.AppendToObjectsAsync(
            Entry(1, writer =>
            {
                WriteOrphan(ref writer, commit.Offset, [256, 257], 258);
                writer.Flush();
            }), [new StreamId(256), new StreamId(257), new StreamId(258)]);
        for (var i = 0; i < 3; i++)
        {
            await accounts.SetAsync("y", i);
            await others.SetAsync("y", i);
            await first.Checkpoints.WriteAsync(accounts);
            await second.Checkpoints.WriteAsync(others);
            await Task.Delay(TimeSpan.FromSeconds(1), time);
        }

        var claims = (await first.Log.ReadTrimPointAsync()).Claims;
        Assert.All(claims.Where(static claim => claim.Name is "first" or "second"),
            claim => Assert.True(claim.Position > commit, $"{claim} of a record at {commit}"));
        var (_, third) = await OpenAsync(world, "third", s_onDemand);
        Assert.Equal(7, await third.BalanceAsync("x"));
    });

    private static async ValueTask<(TangoRuntime Runtime, Accounts Accounts)> OpenAsync(
        World world, string name, TangoOptions options)
    {
        // A registry of its own: opening adds to it.
        var runtime = world.NewRuntime(options with { Types = new TangoTypeRegistry() });
        return (runtime, await runtime.OpenAsync<Accounts>(name, OpenMode.Create));
    }

    private static async Task TrimAsync(World world, TangoRuntime runtime, string name)
    {
        await runtime.Checkpoints.WriteDirectoryAsync();
        await runtime.Checkpoints.WriteDirectoryAsync();
        var claim = (await runtime.Log.ReadTrimPointAsync()).Claims.Single(one => one.Name == name);
        Assert.True(await runtime.Log.TrimAsync() > LogPosition.Zero, claim.ToString());
    }

    private static async Task UpdateAsync(Accounts accounts, int rounds, TimeProvider time)
    {
        for (; rounds > 0; rounds--)
        {
            for (var i = 0; i < 10; i++) await accounts.SetAsync("a", i);
            await accounts.BalanceAsync("a");
            await Task.Delay(TimeSpan.FromSeconds(1), time);
        }
    }
}
