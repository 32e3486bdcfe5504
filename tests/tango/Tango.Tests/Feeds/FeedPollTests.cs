using System.Collections.Immutable;
using Corfu;
using Tango.Testing;

namespace Tango.Tests.Feeds;

/// <summary>Feeds that have seen everything share the checks of the log.</summary>
public class FeedPollTests
{
    private const int Feeds = 20;

    [Fact]
    public void Feeds_without_news_share_one_check_each_interval() => SeededContext.Run(1, async time =>
    {
        var checks = 0;
        await using var world = new World(new InMemoryLogOptions
        {
            BeforeCheck = _ =>
            {
                checks++;
                return ValueTask.CompletedTask;
            },
            Time = time,
        }, time);
        var (writer, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 1);
        var reader = world.NewRuntime();
        var options = new FeedOptions { PollInterval = TimeSpan.FromMilliseconds(50) };
        var feeds = Enumerable.Range(0, Feeds).Select(_ => reader.History.ChangesAsync<Accounts>(
            "accounts", ChangePlace.Before(LogPosition.Zero), options).GetAsyncEnumerator()).ToImmutableArray();
        foreach (var feed in feeds) Assert.True(await feed.MoveNextAsync());
        var next = feeds.Select(static feed => feed.MoveNextAsync().AsTask()).ToList();
        await Task.Delay(TimeSpan.FromMilliseconds(200), time);

        var before = checks;
        await Task.Delay(TimeSpan.FromSeconds(1), time);
        Assert.InRange(checks - before, 10, 25);
        Assert.DoesNotContain(next, static waiting => waiting.IsCompleted);

        // All of them hear of it.
        await accounts.SetAsync("a", 2);
        foreach (var waiting in next) Assert.True(await waiting);
        Assert.All(feeds, static feed => Assert.Equal("Set a 2", FeedReader.Describe(feed.Current)));
        foreach (var feed in feeds) await feed.DisposeAsync();
    });

    /// <summary>A check that fails is met by each feed itself.</summary>
    [Fact]
    public void A_feed_hears_that_the_log_cannot_be_asked() => SeededContext.Run(2, async time =>
    {
        var isOut = false;
        await using var world = new World(new InMemoryLogOptions
        {
            BeforeCheck = _ => isOut ? throw new LogUnavailableException("No sequencer") : ValueTask.CompletedTask,
            Time = time,
        }, time);
        var (_, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 1);
        await using var feed = world.NewRuntime().ChangesAsync(ChangePlace.Before(LogPosition.Zero))
            .GetAsyncEnumerator();
        Assert.True(await feed.MoveNextAsync());
        var next = feed.MoveNextAsync().AsTask();
        await Task.Delay(TimeSpan.FromMilliseconds(100), time);
        Assert.False(next.IsCompleted);
        isOut = true;
        await Assert.ThrowsAsync<LogUnavailableException>(() => next);
    });
}
