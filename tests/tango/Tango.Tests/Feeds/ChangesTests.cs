using System.Collections.Immutable;
using Corfu;

namespace Tango.Tests.Feeds;

/// <summary>A feed tells what took effect, in the order of the log, none twice and none left out.</summary>
public class ChangesTests
{
    private static readonly ChangePlace s_beginning = ChangePlace.Before(LogPosition.Zero);

    [Fact]
    public async Task Feed_has_effective_changes_in_log_order()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 1);
        await accounts.AddAsync("a", 2);
        await Assert.ThrowsAsync<TangoRejectedException>(async () => await accounts.WithdrawAsync("a", 50));
        var held = await runtime.BeginTransferAsync(accounts, "a");
        await runtime.TransferAsync(accounts, "a", 10);
        Assert.False((await held.EndTxAsync()).IsCommitted);
        await runtime.RunTransactionAsync(async _ =>
        {
            await accounts.SetAsync("b", 4);
            await accounts.SetAsync("c", 5);
        });
        await accounts.ClearAsync();

        // Another runtime that does not have it open.
        var changes = await world.NewRuntime().ChangesAsync(s_beginning).TakeAsync(6);
        Assert.Equal(
            ["Set a 1", "Add a 2", "Set a 13 in a transaction", "Set b 4 in a transaction",
                "Set c 5 in a transaction", "Clear"],
            changes.Select(FeedReader.Describe));
        Assert.Equal(changes.OrderBy(static change => change.Place), changes);
        Assert.Equal(6, changes.Select(static change => change.Place).Distinct().Count());
        Assert.Equal(changes[3].Transaction, changes[4].Transaction);
        Assert.NotEqual(changes[2].Transaction, changes[3].Transaction);
        Assert.Equal(changes[4].Place.Position, changes[4].Transaction!.Value.Position);
    }

    /// <summary>Several calls share an entry, so that a position alone is no place.</summary>
    [Fact]
    public async Task A_feed_is_resumed_behind_any_change()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        for (var i = 0; i < 5; i++)
        {
            var calls = Enumerable.Range(0, 4).Select(n => accounts.SetAsync($"{n}", i).AsTask());
            await Task.WhenAll(calls);
            await runtime.RunTransactionAsync(async _ =>
            {
                await accounts.SetAsync("x", i);
                await accounts.SetAsync("y", i);
            });
            if (i == 2) await runtime.Checkpoints.WriteAsync(accounts);
        }

        var all = await runtime.ChangesAsync(s_beginning).TakeAsync(30);
        for (var i = 0; i < 29; i++)
        {
            var rest = await runtime.ChangesAsync(all[i].Place).TakeAsync(29 - i);
            Assert.Equal(all[(i + 1)..].Select(Key), rest.Select(Key));
        }

        var from = await runtime.History.ChangesAsync<Accounts>("accounts", all[7].Place.Position, FeedReader.Quick)
            .TakeAsync(1);
        Assert.Equal(all.First(change => change.Place.Position == all[7].Place.Position).Place, from[0].Place);

        static (ChangePlace, string) Key(TangoChange<Accounts> change) => (change.Place, FeedReader.Describe(change));
    }

    [Fact]
    public void A_feed_from_now_follows_the_tail() => SeededContext.Run(1, async time =>
    {
        await using var world = new World(time: time);
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 1);
        await using var changes = world.NewRuntime().History.ChangesAsync<Accounts>("accounts").GetAsyncEnumerator();
        for (var i = 2; i < 5; i++)
        {
            var next = changes.MoveNextAsync();
            await Task.Delay(TimeSpan.FromSeconds(1), time);
            Assert.False(next.IsCompleted);
            await accounts.SetAsync("a", i);
            Assert.True(await next);
            Assert.Equal($"Set a {i}", FeedReader.Describe(changes.Current));
        }
    });

    /// <summary>R20: what it read is in another object, of which the feed plays nothing.</summary>
    [Fact]
    public async Task Feed_has_transactions_over_other_objects_as_decided()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var other = await runtime.OpenAsync<Accounts>("other", OpenMode.Create);
        var held = await HeldTransaction.BeginAsync(
            runtime, async () => await accounts.SetAsync("a", 1 + await other.BalanceAsync("x")));
        await other.SetAsync("x", 10);
        Assert.False((await held.EndTxAsync()).IsCommitted);
        await runtime.RunTransactionAsync(
            async _ => await accounts.SetAsync("a", 2 + await other.BalanceAsync("x")));
        var change = Assert.Single(await runtime.ChangesAsync(s_beginning).TakeAsync(1));
        Assert.Equal("Set a 12 in a transaction", FeedReader.Describe(change));
    }

    [Fact]
    public void Feed_ends_at_the_deletion_of_the_object() => SeededContext.Run(2, async time =>
    {
        await using var world = new World(time: time);
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 1);
        await using var changes = runtime.ChangesAsync(s_beginning).GetAsyncEnumerator();
        Assert.True(await changes.MoveNextAsync());
        await accounts.SetAsync("a", 2);
        await runtime.Directory.DeleteAsync("accounts");
        Assert.True(await changes.MoveNextAsync());
        await Assert.ThrowsAsync<TangoObjectDeletedException>(async () => await changes.MoveNextAsync());
    });

    [Fact]
    public async Task Feed_of_a_missing_object_or_position_above_the_tail_is_refused()
    {
        await using var world = new World();
        var (runtime, _) = await world.OpenAccountsAsync();
        await Assert.ThrowsAsync<TangoObjectNotFoundException>(
            async () => await runtime.History.ChangesAsync<Accounts>("none").TakeAsync(1));
        var above = (await world.TailAsync()).Next;
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(
            async () => await runtime.History.ChangesAsync<Accounts>("accounts", above).TakeAsync(1));
        Assert.Throws<ArgumentOutOfRangeException>(
            () => runtime.History.ChangesAsync<Accounts>("accounts", options: new FeedOptions { ProgressEvery = 0 }));
        using var cancelled = new CancellationTokenSource();
        var waiting = runtime.History.ChangesAsync<Accounts>(
            "accounts", cancellationToken: cancelled.Token).TakeAsync(1);
        cancelled.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(async () => await waiting);
        var open = runtime.History.ChangesAsync<Accounts>("accounts").TakeAsync(1);
        await runtime.DisposeAsync();
        await Assert.ThrowsAsync<ObjectDisposedException>(async () => await open);
    }

    /// <summary>The reader's transactions are its own: the feed reads beside them.</summary>
    [Fact]
    public async Task A_reader_may_run_a_transaction_for_each_change()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var copy = await runtime.OpenAsync<Accounts>("copy", OpenMode.Create);
        for (var i = 0; i < 3; i++) await accounts.SetAsync("a", i);
        var seen = 0;
        var options = FeedReader.Quick with { Name = "copier" };
        await foreach (var change in runtime.ChangesAsync(s_beginning, options))
        {
            await using var transaction = runtime.BeginTx();
            await copy.SetAsync("a", 10 + await copy.BalanceAsync("a"));
            Assert.True((await transaction.EndTxAsync()).IsCommitted);
            if (++seen == 3) break;
        }

        Assert.Equal(30, await copy.BalanceAsync("a"));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void Changes_make_the_state_wherever_the_reader_stopped(int seed) => SeededContext.Run(seed, async time =>
    {
        await using var world = new World(time: time);
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var writers = Enumerable.Range(0, 3).Select(i => WriteAsync(world, seed * 10 + i)).ToList();
        var random = new Random(seed);
        var read = new List<TangoChange<Accounts>>();
        for (var place = s_beginning; read.Count < 30;)
        {
            var part = await world.NewRuntime().ChangesAsync(place).TakeAsync(random.Next(1, 8));
            read.AddRange(part);
            place = part[^1].Place;
            if (random.Next(3) == 0) await runtime.Checkpoints.WriteAsync(accounts);
        }

        foreach (var writer in writers) await writer;
        var end = await world.TailAsync();
        await accounts.SetAsync("end", 1);
        read.AddRange(await runtime.ChangesAsync(read[^1].Place).TakeToAsync(end));
        var balances = read.Aggregate(
            ImmutableDictionary<string, long>.Empty, static (state, change) => change.ApplyTo(state));
        Assert.Equal((await accounts.SnapshotAsync()).OrderBy(static a => a.Key), balances.OrderBy(static a => a.Key));
        var whole = await runtime.ChangesAsync(s_beginning).TakeAsync(read.Count);
        Assert.Equal(whole.Select(static change => change.Place), read.Select(static change => change.Place));
    });

    private static async Task WriteAsync(World world, int seed)
    {
        var random = new Random(seed);
        var runtime = world.NewRuntime();
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        var other = await runtime.OpenAsync<Accounts>("other", OpenMode.Create);
        for (var i = 0; i < 20; i++)
        {
            var account = $"{random.Next(5)}";
            var amount = random.Next(1, 10);
            try
            {
                switch (random.Next(6))
                {
                    case 0:
                        await accounts.SetAsync(account, amount);
                        break;
                    case 1:
                        await accounts.WithdrawAsync(account, amount);
                        break;
                    case 2:
                        await runtime.TransferAsync(accounts, account, amount);
                        break;
                    case 3:
                        await Task.WhenAll(
                            accounts.AddAsync(account, 1).AsTask(), accounts.AddAsync("0", 1).AsTask());
                        break;
                    case 4:
                        {
                            await using var transaction = runtime.BeginTx();
                            await accounts.SetAsync(account, await other.BalanceAsync("x"));
                            await other.SetAsync("x", amount);
                            await transaction.EndTxAsync();
                            break;
                        }

                    default:
                        await accounts.SetAsync("1", i);
                        break;
                }
            }
            catch (TangoRejectedException)
            {
            }
        }
    }

    /// <summary>Names return. What a reader has of the first object must not be mixed with the second one's
    /// changes.</summary>
    [Theory]
    [InlineData(null)]
    [InlineData("reader")]
    public async Task Feed_that_resumes_on_another_object_of_the_name_begins_with_a_reset(string? name)
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var options = FeedReader.Quick with { Name = name };
        await accounts.SetAsync("a", 1);
        await accounts.SetAsync("b", 2);
        var read = await runtime.ChangesAsync(s_beginning, options).TakeAsync(2);
        await runtime.Directory.DeleteAsync("accounts");
        var (other, again) = await world.OpenAccountsAsync();
        await again.SetAsync("c", 3);

        var changes = await runtime.ChangesAsync(read[1].Place, options).TakeAsync(2);
        Assert.Equal(TangoChangeKind.Reset, changes[0].Kind);
        Assert.Empty(await changes[0].State!.SnapshotAsync());
        Assert.Equal("Set c 3", FeedReader.Describe(changes[1]));
        // Told once: the place of the first state is the second object's.
        Assert.Equal(
            "Set c 3", FeedReader.Describe((await runtime.ChangesAsync(changes[0].Place, options).TakeAsync(1))[0]));

        // With its beginning trimmed, from the newest checkpoint.
        await other.Checkpoints.WriteAsync(again);
        await again.SetAsync("d", 4);
        changes = await runtime.ChangesAsync(read[1].Place, options).TakeAsync(2);
        Assert.Equal(TangoChangeKind.Reset, changes[0].Kind);
    }

    /// <summary>The member was added to a group that is older than the place.</summary>
    [Fact]
    public async Task So_does_one_on_a_member_that_has_the_name_now()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync("late");
        await Groups.Group.OpenAsync(runtime, isNewer: false);
        await accounts.SetAsync("a", 1);
        var last = ChangePlace.Before(await world.TailAsync());
        await runtime.Directory.DeleteAsync("late");
        var newer = await Groups.Group.OpenNewerAsync(world);
        await newer.Late!.SetAsync("x", 2);
        var changes = await runtime.History.ChangesAsync<Accounts>(
            "late", last, FeedReader.Quick, TestContext.Current.CancellationToken).TakeAsync(2);
        Assert.Equal(TangoChangeKind.Reset, changes[0].Kind);
        Assert.Empty(await changes[0].State!.SnapshotAsync());
        Assert.Equal("Set x 2", FeedReader.Describe(changes[1]));
    }
}
