using System.Collections.Immutable;
using Corfu;

namespace Tango.Tests.Forks;

/// <summary>Tango 3.1: an object that begins with a past state of another one.</summary>
public class ForkTests
{
    [Fact]
    public async Task A_fork_begins_with_the_past_state_and_both_live_apart()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var ends = new List<LogPosition>();
        for (var i = 0; i < 5; i++)
        {
            await accounts.SetAsync($"{i}", i);
            ends.Add(await world.TailAsync());
        }

        for (var i = 0; i < 5; i++)
        {
            var made = await runtime.History.ForkAsync("accounts", ends[i], $"fork {i}");
            Assert.Equal(($"fork {i}", "accounts", ends[i]), (made.Name, made.Origin!.Source, made.Origin.Position));
            Assert.Contains(made, await runtime.Directory.ListAsync());
            var past = await (await runtime.History.OpenAsync(ends[i])).OpenAsync<Accounts>("accounts");
            var expected = await past.SnapshotAsync();
            Assert.Equal(i + 1, expected.Count);
            foreach (var reader in new[] { runtime, world.NewRuntime() })
            {
                var fork = await reader.OpenAsync<Accounts>($"fork {i}");
                Assert.Equal(Ordered(expected), Ordered(await fork.SnapshotAsync()));
            }
        }

        var changed = await runtime.OpenAsync<Accounts>("fork 2", OpenMode.Create);
        await changed.SetAsync("0", 100);
        await accounts.SetAsync("1", 200);
        Assert.Equal((100, 1), (await changed.BalanceAsync("0"), await changed.BalanceAsync("1")));
        Assert.Equal((0, 200), (await accounts.BalanceAsync("0"), await accounts.BalanceAsync("1")));
        var late = await world.NewRuntime().OpenAsync<Accounts>("fork 2", OpenMode.Create);
        Assert.Equal((100, 1), (await late.BalanceAsync("0"), await late.BalanceAsync("1")));
    }

    [Fact]
    public async Task A_time_is_a_position()
    {
        var time = new VirtualTime();
        await using var world = new World(new Testing.InMemoryLogOptions { Time = time });
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 1);
        var then = time.GetUtcNow();
        time.Advance(TimeSpan.FromMinutes(1));
        await accounts.SetAsync("a", 2);
        await runtime.History.ForkAsync("accounts", then, "fork");
        Assert.Equal(1, await (await runtime.OpenAsync<Accounts>("fork")).BalanceAsync("a"));
    }

    /// <summary>R20: what a transaction did is in the fork as a whole or not at all.</summary>
    [Fact]
    public async Task Forks_of_one_position_have_the_same_transactions()
    {
        await using var world = new World();
        var runtime = world.NewRuntime();
        var (first, second) =
            (await runtime.OpenAsync<Accounts>("a", OpenMode.Create),
                await runtime.OpenAsync<Accounts>("b", OpenMode.Create));
        var begin = await world.TailAsync();
        for (var i = 1; i < 4; i++)
        {
            var outcome = await runtime.RunTransactionAsync(async _ =>
            {
                await first.SetAsync("x", await second.BalanceAsync("x") + 1);
                await second.SetAsync("x", await first.BalanceAsync("x"));
            });
            Assert.True(outcome.IsCommitted);
        }

        var end = await world.TailAsync();
        var seen = new HashSet<long>();
        for (var at = begin; at <= end; at = at.Next)
        {
            var forks = new List<long>();
            foreach (var name in new[] { "a", "b" })
            {
                await runtime.History.ForkAsync(name, at, $"{name} {at.Offset}");
                forks.Add(await (await runtime.OpenAsync<Accounts>($"{name} {at.Offset}")).BalanceAsync("x"));
            }

            Assert.Equal(forks[0], forks[1]);
            seen.Add(forks[0]);
        }

        Assert.Equal([0, 1, 2, 3], seen.Order());
    }

    [Fact]
    public async Task A_fork_of_a_fork()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 1);
        await runtime.History.ForkAsync("accounts", await world.TailAsync(), "first");
        var before = await world.TailAsync();
        var first = await runtime.OpenAsync<Accounts>("first", OpenMode.Create);
        await first.SetAsync("a", 2);
        await runtime.History.ForkAsync("first", await world.TailAsync(), "second");
        await runtime.History.ForkAsync("first", before, "third");
        await first.SetAsync("a", 3);
        var late = world.NewRuntime();
        Assert.Equal(2, await (await late.OpenAsync<Accounts>("second", OpenMode.Create)).BalanceAsync("a"));
        Assert.Equal(1, await (await late.OpenAsync<Accounts>("third", OpenMode.Create)).BalanceAsync("a"));
    }

    [Fact]
    public async Task A_member_of_a_group_is_forked_alone()
    {
        await using var world = new World();
        var runtime = world.NewRuntime();
        Accounts first = null!, second = null!;
        await runtime.OpenGroupAsync("group", group =>
        {
            first = group.Add<Accounts>("first");
            second = group.Add<Accounts>("second");
        });
        await first.SetAsync("x", 1);
        var outcome = await runtime.RunTransactionAsync(
            async _ => await second.SetAsync("x", await first.BalanceAsync("x") + 1));
        Assert.True(outcome.IsCommitted);
        var made = await runtime.History.ForkAsync("second", await world.TailAsync(), "fork");
        Assert.Null(made.Group);
        await second.SetAsync("x", 5);
        Assert.Equal(2, await (await world.NewRuntime().OpenAsync<Accounts>("fork")).BalanceAsync("x"));
    }

    [Fact]
    public async Task The_source_may_be_deleted_before_or_after()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 1);
        var at = await world.TailAsync();
        await runtime.History.ForkAsync("accounts", at, "before");
        await runtime.Directory.DeleteAsync("accounts");
        await runtime.History.ForkAsync("accounts", at, "accounts");
        var late = world.NewRuntime();
        Assert.Equal(1, await (await late.OpenAsync<Accounts>("before", OpenMode.Create)).BalanceAsync("a"));
        Assert.Equal(1, await (await late.OpenAsync<Accounts>("accounts", OpenMode.Create)).BalanceAsync("a"));
        // A deleted fork is gone like any other object, and its name is free.
        await runtime.Directory.DeleteAsync("before");
        Assert.Equal(0, await (await late.OpenAsync<Accounts>("before", OpenMode.Create)).BalanceAsync("a"));
    }

    [Fact]
    public async Task Impossible_fork_fails_typed_and_creates_no_object()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 1);
        var tail = await world.TailAsync();
        await runtime.OpenAsync<Accounts>("taken", OpenMode.Create);
        Assert.Contains("'taken' exists", (await Assert.ThrowsAsync<TangoDirectoryException>(
            async () => await runtime.History.ForkAsync("accounts", tail, "taken"))).Message);
        await Assert.ThrowsAsync<TangoObjectNotFoundException>(
            async () => await runtime.History.ForkAsync("nothing", tail, "fork"));
        await Assert.ThrowsAsync<TangoObjectNotFoundException>(
            async () => await runtime.History.ForkAsync("taken", tail, "fork"));
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(
            async () => await runtime.History.ForkAsync("accounts", (await world.TailAsync()).Next, "fork"));
        var stranger = world.NewRuntime(new TangoOptions { Types = new TangoTypeRegistry() });
        Assert.Contains("test-accounts", (await Assert.ThrowsAsync<TangoDirectoryException>(
            async () => await stranger.History.ForkAsync("accounts", tail, "fork"))).Message);
        await Assert.ThrowsAsync<TangoTransactionException>(async () =>
        {
            await using var transaction = runtime.BeginTx();
            await runtime.History.ForkAsync("accounts", tail, "fork");
        });
        Assert.Equal(["accounts", "taken"], (await runtime.Directory.ListAsync()).Select(static entry => entry.Name));
    }

    [Fact]
    public async Task A_source_that_has_stopped_is_not_forked()
    {
        await using var world = new World();
        var runtime = world.NewRuntime();
        var fragile = await runtime.OpenAsync<Fragile>("fragile", OpenMode.Create);
        await fragile.PutAsync(1);
        var before = await world.TailAsync();
        await fragile.PutAsync(13);
        await Assert.ThrowsAsync<TangoObjectStoppedException>(
            async () => await runtime.History.ForkAsync("fragile", await world.TailAsync(), "fork"));
        await runtime.History.ForkAsync("fragile", before, "fork");
        Assert.Equal(1, await (await runtime.OpenAsync<Fragile>("fork")).SumAsync());
    }

    [Fact]
    public void Of_two_forks_to_one_name_one_wins() => SeededContext.Run(4, async time =>
    {
        await using var world = new World(time: time);
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var (other, _) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 1);
        var first = await world.TailAsync();
        await accounts.SetAsync("a", 2);
        var second = await world.TailAsync();
        Task[] forks =
        [
            runtime.History.ForkAsync("accounts", first, "fork").AsTask(),
            other.History.ForkAsync("accounts", second, "fork").AsTask(),
        ];
        var refused = 0;
        foreach (var fork in forks)
        {
            try
            {
                await fork;
            }
            catch (TangoDirectoryException)
            {
                refused++;
            }
        }

        Assert.Equal(1, refused);
        var (one, same) =
            (await runtime.OpenAsync<Accounts>("fork"), await other.OpenAsync<Accounts>("fork"));
        Assert.Equal(await one.BalanceAsync("a"), await same.BalanceAsync("a"));
        Assert.True(await one.BalanceAsync("a") > 0);
    });

    /// <summary>The caller is gone after the object was created and before its first state counts.</summary>
    [Fact]
    public async Task Fork_left_half_way_does_not_exist_and_another_attempt_completes()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 1);
        var at = await world.TailAsync();
        var left = await runtime.Services.Handle.CreateForkAsync(
            new TangoDirectory.NewObject("fork", "test-accounts", 16), new ForkOrigin("accounts", at),
            TimeSpan.FromHours(1), default);
        Assert.False(await runtime.Directory.ExistsAsync("fork"));
        await Assert.ThrowsAsync<TangoObjectNotFoundException>(async () => await runtime.OpenAsync<Accounts>("fork"));
        foreach (var taken in new Func<Task>[]
        {
            async () => await runtime.OpenAsync<Accounts>("fork", OpenMode.Create),
            async () => await runtime.Directory.RenameAsync("accounts", "fork"),
        })
        {
            Assert.Contains(
                "is being forked from 'accounts'", (await Assert.ThrowsAsync<TangoDirectoryException>(taken)).Message);
        }

        var made = await runtime.History.ForkAsync("accounts", at, "fork");
        Assert.NotEqual(left.Id, made.Id);
        Assert.Equal(1, await (await world.NewRuntime().OpenAsync<Accounts>("fork")).BalanceAsync("a"));
        // The first caller was only slow.
        await Assert.ThrowsAsync<TangoRejectedException>(async () => await runtime.Services.Handle.CheckpointedAsync(
            left.Id, left.Created, left.Created, null, default));
        Assert.Empty((await runtime.Services.Handle.ReadClaimsAsync(default)).Holds);
    }

    private static IEnumerable<KeyValuePair<string, long>> Ordered(ImmutableDictionary<string, long> balances) =>
        balances.OrderBy(static balance => balance.Key, StringComparer.Ordinal);
}
