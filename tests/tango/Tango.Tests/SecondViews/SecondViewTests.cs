using System.Collections.Immutable;
using Corfu;
using Tango.Testing;
using static Tango.Tests.RawRecords;

namespace Tango.Tests.SecondViews;

/// <summary>Tango 3.1, Fig. 5b: one history, two kinds of view.</summary>
public class SecondViewTests
{
    [Fact]
    public async Task Second_view_shows_acknowledged_writes()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var other = await runtime.OpenAsync<Accounts>("other", OpenMode.Create);
        await accounts.SetAsync("early", 5);
        var wealth = await world.NewRuntime().OpenViewAsync<Accounts, Wealth>("accounts");
        await accounts.SetAsync("rich", 10);
        Assert.Equal(["rich", "early"], await wealth.RichestAsync());
        await accounts.AddAsync("early", 7);
        Assert.Equal(["early", "rich"], await wealth.RichestAsync());
        await Assert.ThrowsAsync<TangoRejectedException>(async () => await accounts.WithdrawAsync("early", 50));
        await accounts.WithdrawAsync("early", 11);
        Assert.Equal(["rich", "early"], await wealth.RichestAsync());

        // R20: decided by others, from what the view does not have.
        await other.SetAsync("x", 99);
        var outcome = await runtime.RunTransactionAsync(
            async _ => await accounts.SetAsync("early", await other.BalanceAsync("x")));
        Assert.True(outcome.IsCommitted);
        Assert.Equal(["early", "rich"], await wealth.RichestAsync());
        await accounts.ClearAsync();
        Assert.Empty(await wealth.RichestAsync());
    }

    /// <summary>A spilled call had the version of its spill, which is no version of the object.</summary>
    [Fact]
    public async Task Second_view_applies_a_transaction_with_the_version_of_the_commit_record()
    {
        await using var world = new World(new InMemoryLogOptions { MaxPayload = 300 });
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var counts = await world.NewRuntime().OpenViewAsync<Accounts, CallCount>("accounts");
        await using (var transaction = runtime.BeginTx())
        {
            for (var i = 0; i < 30; i++) await accounts.SetAsync($"spilled {i}", i);
            Assert.True((await transaction.EndTxAsync()).IsCommitted);
        }

        Assert.Equal(30, await counts.CountAsync());
        Assert.Equal(1, await counts.VersionsAsync());
    }

    [Fact]
    public async Task Second_view_beside_the_object_disturbs_no_caller()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var wealth = await runtime.OpenViewAsync<Accounts, Wealth>("accounts");
        for (var i = 1; i < 5; i++)
        {
            var (added, richest) = (accounts.AddAsync("a", 1).AsTask(), wealth.RichestAsync().AsTask());
            Assert.Equal(i, await added);
            await richest;
        }

        var same = await runtime.OpenViewAsync<Accounts, Wealth>("accounts");
        Assert.Equal(await wealth.RichestAsync(), await same.RichestAsync());
    }

    /// <summary>The first one's readers wait for a check that was sent before the later call.</summary>
    [Fact]
    public async Task Concurrent_readers_of_a_second_view_see_writes_acknowledged_before_each_read()
    {
        await using var world = new World();
        var (_, accounts) = await world.OpenAccountsAsync();
        var wealth = await world.NewRuntime().OpenViewAsync<Accounts, Wealth>("accounts");
        for (var i = 0; i < 50; i++)
        {
            var early = wealth.RichestAsync().AsTask();
            await accounts.SetAsync($"{i}", 100 + i);
            var late = await Task.WhenAll(Enumerable.Range(0, 4).Select(_ => wealth.RichestAsync().AsTask()));
            Assert.All(late, richest => Assert.Equal($"{i}", richest[0]));
            await early;
        }
    }

    /// <summary>The object has refused it, whatever the view would make of it.</summary>
    [Fact]
    public async Task A_call_that_the_object_refused_is_none_of_the_views()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var count = await runtime.OpenViewAsync<Accounts, CallCount>("accounts");
        await accounts.SetAsync("a", 1);
        await Assert.ThrowsAsync<TangoRejectedException>(async () => await accounts.WithdrawAsync("a", 50));
        Assert.Equal(1, await count.CountAsync());
    }

    [Fact]
    public async Task Second_view_starts_from_the_checkpoint_of_the_object()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        for (var i = 0; i < 5; i++) await accounts.SetAsync($"{i}", i);
        await TrimAsync(world, runtime, accounts);
        await accounts.SetAsync("0", 10);
        var reader = world.NewRuntime();
        var wealth = await reader.OpenViewAsync<Accounts, Wealth>("accounts");
        Assert.Equal(["0", "4", "3", "2", "1"], await wealth.RichestAsync());
        await Assert.ThrowsAsync<TangoTrimmedException>(
            async () => await reader.OpenViewAsync<Accounts, CallCount>("accounts"));
    }

    [Fact]
    public async Task A_view_that_a_trim_overtakes_starts_anew()
    {
        await using var world = new World(realCursor: true);
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var reader = world.NewRuntime();
        var wealth = await reader.OpenViewAsync<Accounts, Wealth>("accounts");
        var count = await reader.OpenViewAsync<Accounts, CallCount>("accounts");
        Assert.Equal(0, await count.CountAsync());
        for (var i = 0; i < 5; i++) await accounts.SetAsync($"{i}", i);
        await TrimAsync(world, runtime, accounts);
        await accounts.SetAsync("0", 10);
        Assert.Equal(["0", "4", "3", "2", "1"], await wealth.RichestAsync());
        await Assert.ThrowsAsync<TangoTrimmedException>(async () => await count.CountAsync());
    }

    [Fact]
    public async Task A_view_is_only_read()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var wealth = await runtime.OpenViewAsync<Accounts, Wealth>("accounts");
        var tail = await world.TailAsync();
        await Assert.ThrowsAsync<TangoReadOnlyException>(async () => await wealth.SetAsync());
        await Assert.ThrowsAsync<TangoReadOnlyException>(async () => await runtime.Checkpoints.WriteAsync(wealth));
        await using (runtime.BeginTx())
        {
            await Assert.ThrowsAsync<TangoTransactionException>(async () => await wealth.RichestAsync());
        }

        Assert.Equal(tail, await world.TailAsync());
        runtime.LeaveTransaction();
        await runtime.Directory.DeleteAsync(accounts.ObjectName);
        await Assert.ThrowsAsync<TangoObjectDeletedException>(async () => await wealth.RichestAsync());
    }

    [Fact]
    public async Task A_view_must_know_the_mutators_of_the_objects_type()
    {
        await using var world = new World();
        var (runtime, _) = await world.OpenAccountsAsync();
        await runtime.OpenAsync<Fragile>("fragile", OpenMode.Create);
        var error = await Assert.ThrowsAsync<TangoDirectoryException>(
            async () => await runtime.OpenViewAsync<Accounts, Fragile>("accounts"));
        Assert.Contains("2 (Add), 3 (Withdraw), 4 (Clear)", error.Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<TangoDirectoryException>(
            async () => await runtime.OpenViewAsync<Accounts, Wealth>("fragile"));
        await Assert.ThrowsAsync<TangoObjectNotFoundException>(
            async () => await runtime.OpenViewAsync<Accounts, Wealth>("none"));
    }

    /// <summary>R20: the view knows the outcome of an orphan that reads its object, and leaves it to hosts.</summary>
    [Fact]
    public void A_view_publishes_no_decision() => SeededContext.Run(1, async time =>
    {
        await using var world = new World(time: time);
        var creator = world.NewRuntime();
        await creator.OpenWriteOnlyAsync<Accounts>("accounts", OpenMode.Create);
        await creator.OpenWriteOnlyAsync<Accounts>("other", OpenMode.Create);
        var reader = world.NewRuntime();
        var wealth = await reader.OpenViewAsync<Accounts, Wealth>("accounts");
        var snapshotEnd = (await world.TailAsync()).Offset;
        ImmutableArray<StreamId> both = [new(256), new(257)];
        await world.Log.AppendToObjectsAsync(
            Entry(1, writer =>
            {
                WriteOrphan(ref writer, snapshotEnd, 256, 257);
                writer.Flush();
            }), both);
        var tail = await world.TailAsync();
        Assert.Empty(await wealth.RichestAsync());
        await Task.Delay(TimeSpan.FromSeconds(5), time);
        Assert.Equal(tail, await world.TailAsync());
        // A host does.
        Assert.Equal(
            7, await (await world.NewRuntime().OpenAsync<Accounts>("other", OpenMode.Create)).BalanceAsync("x"));
        Assert.Empty(await wealth.RichestAsync());
    });

    private static async Task TrimAsync(World world, TangoRuntime runtime, TangoObject handle)
    {
        var end = await runtime.Checkpoints.WriteAsync(handle);
        await runtime.Checkpoints.WriteDirectoryAsync();
        await world.Log.TrimPrefixAsync(end);
    }
}
