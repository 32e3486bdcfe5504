using System.Collections.Immutable;
using Corfu;

namespace Tango.Tests.Feeds;

/// <summary>R22: a feed that fell behind a trim starts from a checkpoint and says so; a registered one is waited
/// for.</summary>
public class FeedTrimTests
{
    private static readonly ChangePlace s_beginning = ChangePlace.Before(LogPosition.Zero);

    [Fact]
    public async Task A_feed_behind_a_trim_is_reset()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 1);
        await accounts.SetAsync("a", 2);
        var end = await TrimAsync(world, runtime, accounts);
        await accounts.SetAsync("a", 3);
        var changes = await runtime.ChangesAsync(s_beginning).TakeAsync(2);
        Assert.Equal((TangoChangeKind.Reset, ChangePlace.Before(end)), (changes[0].Kind, changes[0].Place));
        Assert.Equal(2, await changes[0].State!.BalanceAsync("a"));
        await Assert.ThrowsAsync<TangoReadOnlyException>(async () => await changes[0].State!.SetAsync("a", 1));
        Assert.Equal("Set a 3", FeedReader.Describe(changes[1]));
        // Resumed behind the reset, it is not repeated.
        Assert.Equal(
            changes[1].Place, (await runtime.ChangesAsync(changes[0].Place).TakeAsync(1))[0].Place);
    }

    [Fact]
    public async Task Reader_overtaken_by_a_trim_is_reset()
    {
        await using var world = new World(realCursor: true);
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 0);
        await using var changes = runtime.ChangesAsync(s_beginning).GetAsyncEnumerator();
        Assert.True(await changes.MoveNextAsync());
        for (var i = 1; i < 20; i++) await accounts.SetAsync("a", i);
        await TrimAsync(world, runtime, accounts);
        await accounts.SetAsync("a", 20);
        Assert.True(await changes.MoveNextAsync());
        Assert.Equal(TangoChangeKind.Reset, changes.Current.Kind);
        Assert.Equal(19, await changes.Current.State!.BalanceAsync("a"));
        Assert.True(await changes.MoveNextAsync());
        Assert.Equal("Set a 20", FeedReader.Describe(changes.Current));
        Assert.Equal(20, await accounts.BalanceAsync("a"));
    }

    [Fact]
    public async Task Feed_overtaken_by_a_trim_without_a_newer_checkpoint_fails_and_never_skips()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        for (var i = 0; i < 5; i++) await accounts.SetAsync("a", i);
        await runtime.Checkpoints.WriteDirectoryAsync();
        await world.Log.TrimPrefixAsync(await world.TailAsync());
        await accounts.SetAsync("a", 5);
        await Assert.ThrowsAsync<TangoTrimmedException>(
            async () => await runtime.ChangesAsync(s_beginning).TakeAsync(1));
        await Assert.ThrowsAsync<TangoTrimmedException>(
            async () => await runtime.History.ChangesAsync<Accounts>("accounts").TakeAsync(1));
    }

    [Fact]
    public void Trims_wait_for_a_registered_feed_until_the_lease_ends() => SeededContext.Run(3, async time =>
    {
        await using var world = new World(time: time);
        var runtime = world.NewRuntime(new TangoOptions { NewLogMaxSpan = 1, Checkpoints = null });
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        await accounts.SetAsync("a", 0);
        var options = FeedReader.Quick with { Name = "reader", Lease = TimeSpan.FromSeconds(60) };
        ChangePlace place;
        await using (var changes = runtime.ChangesAsync(s_beginning, options).GetAsyncEnumerator())
        {
            Assert.True(await changes.MoveNextAsync());
            place = changes.Current.Place;
            for (var round = 1; round < 4; round++)
            {
                var before = await world.TailAsync();
                await UpdateAndCheckpointAsync(runtime, accounts, round);
                // All that it has not seen is there.
                Assert.True(await runtime.Log.TrimAsync() < before);
                for (var i = 0; i < 20; i++)
                {
                    await Task.Delay(TimeSpan.FromSeconds(1), time);
                    Assert.True(await changes.MoveNextAsync());
                    place = changes.Current.Place;
                    Assert.Equal($"Set a {round * 100 + i}", FeedReader.Describe(changes.Current));
                }
            }
        }

        // The reader is gone, and comes back within its lease.
        await UpdateAndCheckpointAsync(runtime, accounts, 4);
        await runtime.Log.TrimAsync();
        Assert.True((await runtime.Log.ReadTrimPointAsync()).Released > LogPosition.Zero);
        await Task.Delay(TimeSpan.FromSeconds(50), time);
        await runtime.Log.TrimAsync();
        var next = (await runtime.ChangesAsync(place, options).TakeAsync(1))[0];
        Assert.Equal("Set a 400", FeedReader.Describe(next));

        // Then it does not.
        await runtime.Log.TrimAsync();
        await Task.Delay(TimeSpan.FromSeconds(70), time);
        await runtime.Log.TrimAsync();
        await UpdateAndCheckpointAsync(runtime, accounts, 5);
        await UpdateAndCheckpointAsync(runtime, accounts, 6);
        await runtime.Log.TrimAsync();
        Assert.Equal(
            TangoChangeKind.Reset, (await runtime.ChangesAsync(next.Place, options).TakeAsync(1))[0].Kind);
    });

    /// <summary>An object without changes would else keep its reader's place, and with it the log.</summary>
    [Fact]
    public void A_registered_feed_of_an_idle_object_does_not_hold_the_log() => SeededContext.Run(4, async time =>
    {
        await using var world = new World(time: time);
        var runtime = world.NewRuntime(new TangoOptions { NewLogMaxSpan = 1, Checkpoints = null });
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        var busy = await runtime.OpenAsync<Accounts>("busy", OpenMode.Create);
        await accounts.SetAsync("a", 1);
        var options = FeedReader.Quick with { Name = "reader", ProgressEvery = 20 };
        await using var changes = runtime.ChangesAsync(s_beginning, options).GetAsyncEnumerator();
        Assert.True(await changes.MoveNextAsync());
        for (var round = 0; round < 4; round++)
        {
            await UpdateAndCheckpointAsync(runtime, busy, round);
            await runtime.Checkpoints.WriteAsync(accounts);
            await Task.Delay(TimeSpan.FromSeconds(20), time);
            Assert.True(await changes.MoveNextAsync());
            Assert.Equal(TangoChangeKind.Progress, changes.Current.Kind);
        }

        var released = await runtime.Log.TrimAsync();
        Assert.True(released > LogPosition.Zero);
        var place = changes.Current.Place;
        Assert.True(place.Position > released);
        await accounts.SetAsync("a", 2);
        Assert.Equal("Set a 2", FeedReader.Describe((await runtime.ChangesAsync(place, options).TakeAsync(1))[0]));
    });

    [Fact]
    public async Task Claim_of_a_feed_can_be_ended_before_the_lease()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 1);
        await runtime.ChangesAsync(s_beginning, FeedReader.Quick with { Name = "reader" }).TakeAsync(1);
        Assert.Contains(await ClaimsAsync(), static claim => claim.Contains("reader", StringComparison.Ordinal));
        await runtime.Log.EndFeedAsync("reader");
        await runtime.Log.EndFeedAsync("reader");
        Assert.DoesNotContain(await ClaimsAsync(), static claim => claim.Contains("reader", StringComparison.Ordinal));

        async Task<ImmutableArray<string>> ClaimsAsync() =>
            [.. (await runtime.Log.ReadTrimPointAsync()).Claims.Select(static claim => claim.ToString()!)];
    }

    private static async Task UpdateAndCheckpointAsync(TangoRuntime runtime, Accounts accounts, int round)
    {
        for (var i = 0; i < 20; i++) await accounts.SetAsync("a", round * 100 + i);
        await runtime.Checkpoints.WriteAsync(accounts);
        await runtime.Checkpoints.WriteDirectoryAsync();
    }

    private static async Task<LogPosition> TrimAsync(World world, TangoRuntime runtime, TangoObject handle)
    {
        var end = await runtime.Checkpoints.WriteAsync(handle);
        await runtime.Checkpoints.WriteDirectoryAsync();
        await world.Log.TrimPrefixAsync(end);
        return end;
    }
}
