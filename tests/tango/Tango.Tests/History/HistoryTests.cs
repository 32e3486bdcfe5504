using Corfu;
using Tango.Formatting;
using Tango.Records;
using Tango.Testing;

namespace Tango.Tests.History;

/// <summary>Objects at a past position or time, beside live ones.</summary>
public class HistoryTests
{
    private const int Total = 100;

    /// <summary>R20: a transaction over two objects is never seen in part, wherever the position lies.</summary>
    [Fact]
    public async Task Objects_of_one_history_are_of_one_position()
    {
        await using var world = new World();
        var runtime = world.NewRuntime();
        var first = await runtime.OpenAsync<Accounts>("first", OpenMode.Create);
        var second = await runtime.OpenAsync<Accounts>("second", OpenMode.Create);
        await MoveAsync(runtime, first, second, -Total);
        var begin = await world.TailAsync();
        for (var i = 0; i < 10; i++)
        {
            await MoveAsync(runtime, first, second, i);
            if (i == 4) await runtime.Checkpoints.WriteAsync(second);
        }

        var states = new HashSet<long>();
        for (var at = begin; at <= await world.TailAsync(); at = at.Next)
        {
            var history = await world.NewRuntime().History.OpenAsync(at);
            var left = await (await history.OpenAsync<Accounts>("first")).BalanceAsync("x");
            var right = await (await history.OpenAsync<Accounts>("second")).BalanceAsync("x");
            Assert.Equal(Total, left + right);
            states.Add(left);
        }

        Assert.Equal(10, states.Count);
    }

    [Fact]
    public async Task Past_state_stays_unchanged_while_the_object_goes_on()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 1);
        var history = await runtime.History.OpenAsync(await world.TailAsync());
        var past = await history.OpenAsync<Accounts>("accounts");
        await accounts.SetAsync("a", 2);
        Assert.Equal((1, 2), (await past.BalanceAsync("a"), await accounts.BalanceAsync("a")));
        Assert.Equal(1, await (await history.OpenAsync<Accounts>("accounts")).BalanceAsync("a"));
        Assert.Equal("accounts", Assert.Single(history.Objects).Name);

        // Reading it in a transaction reads nothing that another write could conflict with.
        var held = await HeldTransaction.BeginAsync(
            runtime, async () => await accounts.SetAsync("b", await past.BalanceAsync("a")));
        await accounts.SetAsync("a", 3);
        Assert.True((await held.EndTxAsync()).IsCommitted);
        Assert.Equal(1, await accounts.BalanceAsync("b"));
    }

    [Fact]
    public async Task A_past_state_cannot_be_changed()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 1);
        var tail = await world.TailAsync();
        var past = await (await runtime.History.OpenAsync(tail)).OpenAsync<Accounts>("accounts");
        await Assert.ThrowsAsync<TangoReadOnlyException>(async () => await past.SetAsync("a", 2));
        await Assert.ThrowsAsync<TangoReadOnlyException>(async () => await past.AddAsync("a", 2));
        await Assert.ThrowsAsync<TangoReadOnlyException>(async () => await runtime.Checkpoints.WriteAsync(past));
        await Assert.ThrowsAsync<TangoReadOnlyException>(async () =>
        {
            await using var transaction = runtime.BeginTx();
            await past.SetAsync("a", 2);
        });
        Assert.Equal(tail, await world.TailAsync());
    }

    [Fact]
    public async Task History_has_the_names_of_the_position()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 1);
        var before = await world.TailAsync();
        await runtime.Directory.DeleteAsync("accounts");
        var between = await world.TailAsync();
        await (await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create)).SetAsync("a", 2);

        Assert.Equal(1, await BalanceAtAsync(runtime, before));
        Assert.Equal(2, await BalanceAtAsync(runtime, await world.TailAsync()));
        Assert.Empty((await runtime.History.OpenAsync(between)).Objects);
        await Assert.ThrowsAsync<TangoObjectNotFoundException>(async () => await BalanceAtAsync(runtime, between));
        await Assert.ThrowsAsync<TangoObjectNotFoundException>(
            async () => await BalanceAtAsync(runtime, LogPosition.Zero));
        await Assert.ThrowsAsync<TangoDirectoryException>(
            async () => await (await runtime.History.OpenAsync(before)).OpenAsync<Fragile>("accounts"));
    }

    [Fact]
    public async Task Behind_a_trim_the_oldest_position_is_told()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 1);
        var old = await world.TailAsync();
        await accounts.SetAsync("a", 2);
        var kept = await runtime.Checkpoints.WriteDirectoryAsync();
        var end = await runtime.Checkpoints.WriteAsync(accounts);
        await accounts.SetAsync("a", 3);
        await world.Log.TrimPrefixAsync(kept);

        var error = await Assert.ThrowsAsync<TangoTrimmedException>(
            async () => await runtime.History.OpenAsync(old));
        Assert.Equal(kept, error.Oldest);
        var history = await runtime.History.OpenAsync(kept);
        error = await Assert.ThrowsAsync<TangoTrimmedException>(
            async () => await history.OpenAsync<Accounts>("accounts"));
        Assert.Equal(end, error.Oldest);
        Assert.Equal(2, await BalanceAtAsync(runtime, end));
        Assert.Equal(3, await BalanceAtAsync(runtime, await world.TailAsync()));
    }

    [Fact]
    public async Task A_position_above_the_tail_is_refused()
    {
        await using var world = new World();
        var (runtime, _) = await world.OpenAccountsAsync();
        var above = (await world.TailAsync()).Next;
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(async () => await runtime.History.OpenAsync(above));
    }

    /// <summary>R20: a commit record of a group is decided by all of it.</summary>
    [Fact]
    public async Task History_plays_a_member_with_the_group()
    {
        await using var world = new World();
        var runtime = world.NewRuntime();
        Accounts first = null!, second = null!;
        await runtime.OpenGroupAsync("group", group =>
        {
            first = group.Add<Accounts>("first");
            second = group.Add<Accounts>("second");
        });
        await MoveAsync(runtime, first, second, -Total);
        var at = await world.TailAsync();
        await MoveAsync(runtime, first, second, 30);

        var history = await world.NewRuntime().History.OpenAsync(at);
        Assert.Equal(Total, await (await history.OpenAsync<Accounts>("first")).BalanceAsync("x"));
        Assert.Equal(0, await (await history.OpenAsync<Accounts>("second")).BalanceAsync("x"));
    }

    /// <summary>By the clocks of writers, with holes between.</summary>
    [Fact]
    public async Task A_time_is_a_position()
    {
        var time = new VirtualTime();
        var holes = 0;
        await using var world = new World(new InMemoryLogOptions
        {
            Time = time,
            NextAppendFault = () => holes-- > 0 ? AppendFault.LeaveHole : AppendFault.None,
        });
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var times = new List<DateTimeOffset>();
        for (var i = 0; i < 12; i++)
        {
            time.Advance(TimeSpan.FromMinutes(1));
            if (i % 5 == 0) holes = 3;
            await accounts.SetAsync("a", i);
            times.Add(time.GetUtcNow());
        }

        for (var i = 0; i < 12; i++)
        {
            var history = await runtime.History.OpenAsync(times[i] + TimeSpan.FromSeconds(i % 60));
            Assert.Equal(i, await (await history.OpenAsync<Accounts>("accounts")).BalanceAsync("a"));
        }

        Assert.Empty((await runtime.History.OpenAsync(times[0] - TimeSpan.FromHours(1))).Objects);
    }

    /// <summary>R23: names that newer code gave are not known, and must not be said to be missing.</summary>
    [Fact]
    public async Task History_behind_a_level_that_is_too_new_is_not_opened()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 1);
        var before = await world.TailAsync();
        var entry = new ArgumentBuffer();
        var writer = new MessagePackWriter(entry);
        EntryFormat.WriteHeader(ref writer, 1, 1, 1);
        RecordFormat.WriteUpdate(ref writer, ObjectId.Directory, TangoDirectory.Mutators.RaiseLevel, ObjectKey.None,
            DirectoryFormat.RaiseLevel(RuntimeLog.NewestLevel + 1).WrittenSpan);
        writer.Flush();
        await world.Log.AppendToObjectsAsync(entry.WrittenMemory, [ObjectId.Directory.Stream]);
        Assert.Equal(1, await BalanceAtAsync(runtime, before));
        await Assert.ThrowsAsync<TangoLevelException>(
            async () => await runtime.History.OpenAsync(await world.TailAsync()));
    }

    private static async Task MoveAsync(
        TangoRuntime runtime, Accounts from, Accounts to, long amount)
    {
        var outcome = await runtime.RunTransactionAsync(async _ =>
        {
            await from.SetAsync("x", await from.BalanceAsync("x") - amount);
            if (amount >= 0) await to.SetAsync("x", await to.BalanceAsync("x") + amount);
        });
        Assert.True(outcome.IsCommitted);
    }

    private static async Task<long> BalanceAtAsync(TangoRuntime runtime, LogPosition at) =>
        await (await (await runtime.History.OpenAsync(at)).OpenAsync<Accounts>("accounts")).BalanceAsync("a");
}
