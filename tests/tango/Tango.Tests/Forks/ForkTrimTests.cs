using Corfu;
using Tango.Checkpoints;
using Tango.Tests.Checkpoints;
using Tango.Tests.Feeds;
using Tango.Tests.SecondViews;
using Tango.Testing;

namespace Tango.Tests.Forks;

/// <summary>R22: a fork begins with its first state or a newer one, and never with nothing.</summary>
public class ForkTrimTests
{
    private static readonly TangoOptions s_onDemand = new() { NewLogMaxSpan = 1, Checkpoints = null };

    [Fact]
    public async Task Fork_opens_when_the_history_of_the_origin_is_trimmed()
    {
        await using var world = new World();
        var (runtime, accounts) = await OpenAsync(world);
        await accounts.SetAsync("a", 1);
        var made = await runtime.History.ForkAsync("accounts", await world.TailAsync(), "fork");
        var start = made.Created;
        for (var i = 0; i < 3; i++)
        {
            await runtime.Checkpoints.WriteAsync(accounts);
            await runtime.Checkpoints.WriteDirectoryAsync();
        }

        await runtime.Directory.DeleteAsync("accounts");
        Assert.Equal(start, await runtime.Log.TrimAsync());
        Assert.Equal(start, (await runtime.Log.ReadTrimPointAsync()).Claims[0].Position);

        var late = world.NewRuntime();
        var fork = await late.OpenAsync<Accounts>("fork");
        Assert.Equal(1, await fork.BalanceAsync("a"));
        await fork.SetAsync("b", 2);

        // Checkpoints of the fork take the place of the first state.
        for (var i = 0; i < 3; i++)
        {
            await fork.SetAsync("b", i);
            await late.Checkpoints.WriteAsync(fork);
        }

        for (var i = 0; i < 3; i++) await late.Checkpoints.WriteDirectoryAsync();
        Assert.True(await late.Log.TrimAsync() > start);
        var last = await world.NewRuntime().OpenAsync<Accounts>("fork");
        Assert.Equal((1, 2), (await last.BalanceAsync("a"), await last.BalanceAsync("b")));
    }

    /// <summary>Before each of its appends in turn, others checkpoint what they have and trim.</summary>
    [Fact]
    public async Task Trim_leaves_the_history_of_a_fork_in_progress()
    {
        var beforeAppend = static () => ValueTask.CompletedTask;
        await using var world = new World(new InMemoryLogOptions { AroundAppend = _ => beforeAppend() });
        var (runtime, accounts) = await OpenAsync(world);
        var other = world.NewRuntime(s_onDemand);
        await other.OpenAsync<Accounts>("accounts", OpenMode.Create);
        await accounts.SetAsync("a", 1);
        var at = await world.TailAsync();
        var (isTrimming, calls) = (false, 0);
        beforeAppend = async () =>
        {
            // Twice for each, the record that creates it first.
            if (isTrimming || calls++ < 2) return;
            isTrimming = true;
            for (var i = 0; i < 3; i++)
            {
                await other.Checkpoints.WriteAsync("accounts");
                await other.Checkpoints.WriteDirectoryAsync();
            }

            await other.Log.TrimAsync();
            isTrimming = false;
        };
        var made = await runtime.History.ForkAsync("accounts", at, "fork");
        beforeAppend = static () => ValueTask.CompletedTask;
        Assert.Equal(made.Created, (await runtime.Log.ReadTrimPointAsync()).Claims[0].Position);
        Assert.Equal(1, await (await world.NewRuntime().OpenAsync<Accounts>("fork")).BalanceAsync("a"));
    }

    [Fact]
    public void Fork_whose_caller_is_gone_is_dropped_by_a_trim_after_the_lease() => SeededContext.Run(3, async time =>
    {
        await using var world = new World(time: time);
        var (runtime, accounts) = await OpenAsync(world);
        await accounts.SetAsync("a", 1);
        var left = await runtime.Services.Handle.CreateForkAsync(
            new TangoDirectory.NewObject("fork", "test-accounts", 16), new ForkOrigin("accounts", LogPosition.Zero),
            TimeSpan.FromMinutes(1), default);
        await CheckpointAndTrimAsync();
        Assert.Equal(left.Created, await runtime.Log.TrimAsync());
        await Assert.ThrowsAsync<TangoDirectoryException>(
            async () => await runtime.OpenAsync<Accounts>("fork", OpenMode.Create));

        await Task.Delay(TimeSpan.FromMinutes(2), time);
        await CheckpointAndTrimAsync();
        Assert.True(await runtime.Log.TrimAsync() > left.Created);
        await Assert.ThrowsAsync<TangoRejectedException>(async () => await runtime.Services.Handle.CheckpointedAsync(
            left.Id, left.Created, left.Created, null, default));
        Assert.Equal(0, await (await runtime.OpenAsync<Accounts>("fork", OpenMode.Create)).BalanceAsync("a"));

        async Task CheckpointAndTrimAsync()
        {
            for (var i = 0; i < 3; i++)
            {
                await accounts.SetAsync("a", i);
                await runtime.Checkpoints.WriteAsync(accounts);
                await runtime.Checkpoints.WriteDirectoryAsync();
            }

            await runtime.Log.TrimAsync();
        }
    });

    [Fact]
    public async Task Behind_a_trim_the_oldest_position_is_told()
    {
        await using var world = new World();
        var (runtime, accounts) = await OpenAsync(world);
        await accounts.SetAsync("a", 1);
        var old = await world.TailAsync();
        var kept = await runtime.Checkpoints.WriteDirectoryAsync();
        var end = await runtime.Checkpoints.WriteAsync(accounts);
        await world.Log.TrimPrefixAsync(kept);
        var error = await Assert.ThrowsAsync<TangoTrimmedException>(
            async () => await runtime.History.ForkAsync("accounts", old, "fork"));
        Assert.Equal(end, error.Oldest);
    }

    /// <summary>At every append in turn, the caller gives up before or after it.</summary>
    [Fact]
    public async Task One_that_was_cancelled_half_way_is_not_there_or_whole()
    {
        var (calls, cancelAt) = (0, -1);
        CancellationTokenSource? cancel = null;
        await using var world = new World(new InMemoryLogOptions
        {
            MaxPayload = 300,
            AroundAppend = _ =>
            {
                if (calls++ == cancelAt) cancel!.Cancel();
                return ValueTask.CompletedTask;
            },
        });
        var (runtime, accounts) = await OpenAsync(world);
        for (var i = 0; i < 20; i++) await accounts.SetAsync($"account-{i}", i);
        var at = await world.TailAsync();
        calls = 0;
        await runtime.History.ForkAsync("accounts", at, "whole");
        var needed = calls;
        Assert.True(needed > 8);
        for (var i = 0; i < needed; i++)
        {
            (calls, cancelAt, cancel) = (0, i, new CancellationTokenSource());
            await Record.ExceptionAsync(
                async () => await runtime.History.ForkAsync("accounts", at, $"fork {i}", cancel.Token));
            cancelAt = -1;
            await runtime.SyncAsync();
            if ((await runtime.Directory.ListAsync()).All(entry => entry.Name != $"fork {i}")) continue;
            Assert.True(i >= needed - 2, $"It was created before what it begins with, at {i} of {needed}");
            Assert.Equal(19, await (await runtime.OpenAsync<Accounts>($"fork {i}")).BalanceAsync("account-19"));
        }

        Assert.Null(await Record.ExceptionAsync(async () => await runtime.History.ForkAsync("accounts", at, "fork")));
    }

    [Theory]
    [InlineData("open")]
    [InlineData("checkpoint")]
    [InlineData("history")]
    [InlineData("feed")]
    [InlineData("view")]
    [InlineData("remote")]
    public async Task Fork_whose_first_state_is_trimmed_cannot_be_played(string use)
    {
        await using var world = new World();
        var (runtime, accounts) = await OpenAsync(world);
        await accounts.SetAsync("a", 1);
        var made = await runtime.History.ForkAsync("accounts", await world.TailAsync(), "fork");
        await (await runtime.OpenWriteOnlyAsync<Accounts>("fork")).SetAsync("a", 2);
        var tail = await world.TailAsync();
        // The final record.
        await world.Log.TrimAsync((await world.CheckpointEntriesAsync(made.Id.Value))[^1].Position);
        var error = await Assert.ThrowsAsync<TangoTrimmedException>(async () =>
        {
            switch (use)
            {
                case "open":
                    await runtime.OpenAsync<Accounts>("fork");
                    break;
                case "checkpoint":
                    await runtime.Checkpoints.WriteAsync("fork");
                    break;
                case "history":
                    await (await runtime.History.OpenAsync(tail)).OpenAsync<Accounts>("fork");
                    break;
                case "feed":
                    await runtime.History.ChangesAsync<Accounts>("fork", LogPosition.Zero).TakeAsync(1);
                    break;
                case "view":
                    await runtime.OpenViewAsync<Accounts, Wealth>("fork");
                    break;
                default:
                    await (await runtime.OpenRemoteAsync<Accounts>("fork")).BalanceAsync("a");
                    break;
            }
        });
        for (Exception? reason = error; use != "history"; reason = reason.InnerException)
        {
            Assert.NotNull(reason);
            if (reason.Message.Contains("forked from 'accounts'")) break;
        }
    }

    /// <summary>R20: a probe plays versions only.</summary>
    [Fact]
    public async Task Record_that_read_a_fork_is_decided_from_the_first_state_of_the_fork()
    {
        await using var world = new World();
        var (runtime, accounts) = await OpenAsync(world);
        await accounts.SetAsync("x", 1);
        await runtime.OpenWriteOnlyAsync<Accounts>("written", OpenMode.Create);
        var made = await runtime.History.ForkAsync("accounts", await world.TailAsync(), "fork");
        Assert.Equal(new ObjectId(258), made.Id);
        foreach (var (snapshot, balance) in new[] { (made.Created.Offset, 0), (made.Created.Offset + 1, 7) })
        {
            await world.Log.AppendToObjectsAsync(
                RawRecords.Entry(1, writer =>
                {
                    RawRecords.WriteOrphan(ref writer, snapshot, 258, 257);
                    writer.Flush();
                }), [new StreamId(257), new StreamId(258)]);
            var quick = world.NewRuntime(s_onDemand with { OrphanTimeout = TimeSpan.FromMilliseconds(1) });
            var written = await quick.OpenAsync<Accounts>("written", OpenMode.Create);
            // A snapshot from before the fork conflicts with its beginning.
            Assert.Equal(balance, await written.BalanceAsync("x"));
        }
    }

    [Fact]
    public async Task The_first_state_is_the_beginning_of_a_feed()
    {
        await using var world = new World();
        var (runtime, accounts) = await OpenAsync(world);
        await accounts.SetAsync("a", 1);
        var made = await runtime.History.ForkAsync("accounts", await world.TailAsync(), "fork");
        var fork = await runtime.OpenAsync<Accounts>("fork");
        await fork.SetAsync("a", 2);
        await runtime.Checkpoints.WriteAsync(fork);
        await fork.SetAsync("a", 3);
        var start = made.Created;
        var changes = await Read(LogPosition.Zero).TakeAsync(3);
        Assert.Equal((TangoChangeKind.Reset, ChangePlace.Before(start)), (changes[0].Kind, changes[0].Place));
        Assert.Equal(1, await changes[0].State!.BalanceAsync("a"));
        Assert.Equal(["Set a 2", "Set a 3"], changes.Skip(1).Select(FeedReader.Describe));
        // Resumed behind the first state, it is not told again.
        Assert.Equal("Set a 2", FeedReader.Describe((await Read(start).TakeAsync(1))[0]));

        // With the first state gone, the next one that is there.
        await world.Log.TrimAsync((await world.CheckpointEntriesAsync(made.Id.Value))[1].Position);
        changes = await Read(LogPosition.Zero).TakeAsync(2);
        Assert.Equal(2, await changes[0].State!.BalanceAsync("a"));
        Assert.Equal("Set a 3", FeedReader.Describe(changes[1]));

        IAsyncEnumerable<TangoChange<Accounts>> Read(LogPosition from) => runtime.History.ChangesAsync<Accounts>(
            "fork", from, FeedReader.Quick, TestContext.Current.CancellationToken);
    }

    /// <summary>A feed of any other object gets a reset there.</summary>
    [Fact]
    public async Task A_feed_that_a_trim_overtook_behind_the_first_state_is_reset()
    {
        await using var world = new World();
        var (runtime, accounts) = await OpenAsync(world);
        await accounts.SetAsync("a", 1);
        await runtime.History.ForkAsync("accounts", await world.TailAsync(), "fork");
        var fork = await runtime.OpenAsync<Accounts>("fork");
        await fork.SetAsync("a", 2);
        var place = (await Read(null).TakeAsync(2))[1].Place;
        for (var i = 3; i < 6; i++)
        {
            await fork.SetAsync("a", i);
            await runtime.Checkpoints.WriteAsync(fork);
            await runtime.Checkpoints.WriteAsync(accounts);
            await runtime.Checkpoints.WriteDirectoryAsync();
        }

        Assert.True(await runtime.Log.TrimAsync() > place.Position);
        var reset = (await Read(place).TakeAsync(1))[0];
        Assert.Equal(TangoChangeKind.Reset, reset.Kind);
        Assert.Equal(5, await reset.State!.BalanceAsync("a"));

        IAsyncEnumerable<TangoChange<Accounts>> Read(ChangePlace? after) => runtime.History.ChangesAsync<Accounts>(
            "fork", after ?? ChangePlace.Before(LogPosition.Zero), FeedReader.Quick,
            TestContext.Current.CancellationToken);
    }

    [Fact]
    public async Task History_begins_where_the_fork_was_made()
    {
        await using var world = new World();
        var (runtime, accounts) = await OpenAsync(world);
        await accounts.SetAsync("a", 1);
        var before = await world.TailAsync();
        await runtime.History.ForkAsync("accounts", before, "fork");
        var made = await world.TailAsync();
        await (await runtime.OpenAsync<Accounts>("fork")).SetAsync("a", 2);
        var error = await Assert.ThrowsAsync<TangoObjectNotFoundException>(async () => await BalanceAtAsync(before));
        Assert.Contains($"from 'accounts' as of {before.Offset}", error.Message);
        Assert.Equal(1, await BalanceAtAsync(made));
        Assert.Equal(2, await BalanceAtAsync(await world.TailAsync()));

        async Task<long> BalanceAtAsync(LogPosition at)
        {
            var past = await world.NewRuntime().History.OpenAsync(at);
            return await (await past.OpenAsync<Accounts>("fork")).BalanceAsync("a");
        }
    }

    [Fact]
    public async Task A_second_view_starts_from_the_first_state_or_says_why_not()
    {
        await using var world = new World();
        var (runtime, accounts) = await OpenAsync(world);
        await accounts.SetAsync("a", 1);
        await runtime.History.ForkAsync("accounts", await world.TailAsync(), "fork");
        var fork = await runtime.OpenAsync<Accounts>("fork");
        var wealth = await runtime.OpenViewAsync<Accounts, Wealth>("fork");
        await fork.SetAsync("b", 2);
        Assert.Equal(["b", "a"], await wealth.RichestAsync());
        await Assert.ThrowsAsync<TangoTrimmedException>(
            async () => await runtime.OpenViewAsync<Accounts, CallCount>("fork"));
    }

    private static async ValueTask<(TangoRuntime Runtime, Accounts Accounts)> OpenAsync(World world)
    {
        var runtime = world.NewRuntime(s_onDemand);
        return (runtime, await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create));
    }
}
