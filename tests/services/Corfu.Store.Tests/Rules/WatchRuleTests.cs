using Corfu.Store.Index;
using Corfu.Store.State;
using Corfu.Store.Tests.Support;
using Corfu.Store.Watching;
using Tango.Testing;
using static Corfu.Store.Tests.Support.StoreWorld;

namespace Corfu.Store.Tests.Rules;

/// <summary>Rule K10: a watch tells each change once, in order, wherever it goes on.</summary>
public sealed class WatchRuleTests : IAsyncDisposable
{
    // A watch that misses changes tells its progress, in place of waiting for more.
    private static readonly WatchOptions s_progress = new() { Progress = true };

    private readonly StoreWorld _world = new();

    public ValueTask DisposeAsync() => _world.DisposeAsync();

    [Fact]
    public async Task K10_watch_from_a_revision_tells_each_change_once_and_in_order()
    {
        var store = await _world.OpenAsync();
        await store.PutAsync("a", Bytes("1"));
        await store.PutAsync("b", Bytes("2"));
        await store.TransactAsync(StoreTransaction.Empty.Then(
            new StorePut("a", Bytes("3")), new StoreDelete("b"), new StorePut("c", Bytes("4"))));
        await store.DeleteAsync(StoreRange.All);
        var told = await TakeAsync(store.WatchAsync(StoreRange.All, 2, s_progress), 4);
        Assert.Equal("2:a=1 3:b=2 4:a=3,b-,c=4 5:a-,c-", Text(told));
        Assert.Equal("4:c=4 5:c-", Text(await TakeAsync(store.WatchAsync("c", 1, s_progress), 2)));
    }

    [Fact]
    public async Task K10_watch_moves_to_another_process_without_a_gap()
    {
        var store = await _world.OpenAsync();
        var other = await _world.OpenAsync();
        for (var i = 1; i <= 600; i++) await store.PutAsync($"{i % 7}", Bytes($"{i}"));
        var told = new List<StoreChanges>();
        while (told.Count < 600)
        {
            var at = told.Count % 2 == 0 ? store : other;
            told.AddRange(await TakeAsync(at.WatchAsync(StoreRange.All, told.Count + 2, s_progress), 100));
        }

        Assert.Equal(Enumerable.Range(2, 600).Select(static i => (long)i), told.Select(static one => one.Revision));
        Assert.Equal("600", Text(told[^1].Changes[0].Entry));
    }

    [Fact]
    public async Task K10_watch_hears_later_writes_of_other_processes()
    {
        var store = await _world.OpenAsync();
        var other = await _world.OpenAsync();
        await store.PutAsync("a", Bytes("1"));
        var told = TakeAsync(other.WatchAsync("a", 3, new WatchOptions { Previous = true }), 2);
        await store.PutAsync("b", Bytes("2"));
        await store.PutAsync("a", Bytes("3"));
        await store.DeleteAsync("a");
        await _world.Host.Time.AdvanceUntilAsync(told);
        Assert.Equal("4:a=3 5:a-", Text(await told));
        Assert.Equal(["1", "3"], (await told).Select(static one => Text(one.Changes[0].Previous)));
        Assert.Equal(2, (await told)[0].Changes[0].Previous!.Revision);
    }

    [Fact]
    public async Task K10_watch_below_the_floor_is_refused_and_one_that_falls_below_ends()
    {
        var store = await _world.OpenAsync();
        for (var i = 1; i <= 400; i++) await store.PutAsync("a", Bytes($"{i}"));
        var begun = store.WatchAsync("a", 2, s_progress).GetAsyncEnumerator();
        Assert.True(await begun.MoveNextAsync());
        await store.CompactAsync(400);
        var compacted = await Assert.ThrowsAsync<StoreCompactedException>(
            async () => await TakeAsync(store.WatchAsync("a", 399, s_progress), 1));
        Assert.Equal(400, compacted.Oldest);
        Assert.Equal("400:a=399 401:a=400", Text(await TakeAsync(store.WatchAsync("a", 400, s_progress), 2)));
        // More are dropped at once than a process remembers.
        for (var i = 1; i <= Pruning.Remembered; i++) await store.PutAsync("a", Bytes($"{400 + i}"));
        await store.DeleteAsync("a");
        await store.CompactAsync(await store.PutAsync("a", Bytes("last")));
        await Assert.ThrowsAsync<StoreCompactedException>(async () =>
        {
            while (await begun.MoveNextAsync())
            {
            }
        });
    }

    [Fact]
    public async Task K10_watch_tells_changes_that_a_compaction_follows_within_one_view()
    {
        var store = await _world.OpenAsync();
        var other = await _world.OpenAsync();
        await store.PutAsync("a", Bytes("1"));
        var watch = other.WatchAsync("a", 2, new WatchOptions { Previous = true }).GetAsyncEnumerator();
        Assert.True(await watch.MoveNextAsync());
        // None of these states is seen by the watch.
        await store.PutAsync("a", Bytes("2"));
        await store.DeleteAsync("a");
        await store.PutAsync("b", Bytes("3"));
        await store.CompactAsync(4);
        await store.PutAsync("a", Bytes("4"));
        await store.CompactAsync(await store.PutAsync("a", Bytes("5")));
        await other.GetAsync("a");
        var told = new List<StoreChanges>();
        while (told.Count < 4 && await watch.MoveNextAsync()) told.Add(watch.Current);
        Assert.Equal("3:a=2 4:a- 6:a=4 7:a=5", Text(told));
        Assert.Equal("1,2,,4", string.Join(',', told.Select(static one =>
            one.Changes[0].Previous is { } before ? Text(before) : "")));
        await Assert.ThrowsAsync<StoreCompactedException>(
            async () => await TakeAsync(other.WatchAsync("a", 6, s_progress), 1));
    }

    [Fact]
    public async Task Watch_with_progress_tells_the_revision_reached()
    {
        var store = await _world.OpenAsync();
        await store.PutAsync("a", Bytes("1"));
        await store.PutAsync("b", Bytes("2"));
        var told = await TakeAsync(store.WatchAsync("a", 2, s_progress), 2);
        Assert.Equal("2:a=1 3:", Text(told));
    }

    [Fact]
    public async Task Watch_without_a_revision_begins_with_the_next_one()
    {
        var store = await _world.OpenAsync();
        await store.PutAsync("a", Bytes("1"));
        var watch = store.WatchAsync("a", options: s_progress).GetAsyncEnumerator();
        Assert.True(await watch.MoveNextAsync());
        Assert.Equal((2, 0), (watch.Current.Revision, watch.Current.Changes.Length));
        await store.PutAsync("a", Bytes("2"));
        Assert.True(await watch.MoveNextAsync());
        Assert.Equal("3:a=2", Text([watch.Current]));
    }

    [Fact]
    public async Task Watch_ends_with_a_cancellation_and_with_the_store()
    {
        var store = await _world.OpenAsync();
        using var stop = new CancellationTokenSource();
        var cancelled = TakeAsync(store.WatchAsync("a", cancellationToken: stop.Token), 1);
        var disposed = TakeAsync(store.WatchAsync("a"), 1);
        await stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled);
        await store.DisposeAsync();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => disposed);
    }

    /// <summary>Each write woke every watch.</summary>
    [Fact]
    public async Task Write_wakes_only_watches_of_changed_keys()
    {
        var process = _world.Start();
        var store = await _world.OpenAsync(process);
        var index = await process.Runtime.OpenAsync<StoreIndex>("store");
        var waiting = new WaitingWatches(index, LoopContext.Pool, static _ => { }, default);
        var none = new WatchOptions();
        var turns = new Dictionary<string, Task<WatchTurn>>();
        foreach (var (name, range) in new[]
        {
            ("a", StoreRange.Of("a")), ("b", StoreRange.Of("b")), ("a+", new StoreRange("a", "b")),
            ("all", StoreRange.All),
        })
            turns[name] = waiting.WaitAsync(range, 1, 2, none, default).AsTask();
        await store.PutAsync("c", Bytes("1"));
        Assert.Equal(2, (await turns["all"]).Next);
        await store.PutAsync("a1", Bytes("1"));
        Assert.Equal(3, (await turns["a+"]).Next);
        await store.TransactAsync(StoreTransaction.Empty.Then(new StorePut("b", Bytes("1")), new StoreDelete("c")));
        Assert.Equal(4, (await turns["b"]).Next);
        Assert.False(turns["a"].IsCompleted);
        await store.PutAsync("a", Bytes("1"));
        Assert.Equal(5, (await turns["a"]).Next);
    }

    /// <summary>The watch that waited for all others ended, and its place was to be taken.</summary>
    [Fact]
    public async Task Watches_outlive_a_cancelled_watch()
    {
        var store = await _world.OpenAsync();
        using var stop = new CancellationTokenSource();
        var first = TakeAsync(store.WatchAsync("a", 2, cancellationToken: stop.Token), 1);
        var second = TakeAsync(store.WatchAsync("b", 2), 1);
        await stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => first);
        await store.PutAsync("b", Bytes("1"));
        Assert.Equal("2:b=1", Text(await second));
        // None waits now.
        var third = TakeAsync(store.WatchAsync("c"), 1);
        await store.PutAsync("c", Bytes("1"));
        Assert.Equal("3:c=1", Text(await third));
    }

    /// <summary>The log was asked for changes for ever.</summary>
    [Fact]
    public async Task Log_is_left_alone_behind_the_last_watch()
    {
        var checks = 0;
        await using var world = new StoreWorld(
            new InMemoryLogOptions
            {
                BeforeCheck = _ =>
                {
                    checks++;
                    return ValueTask.CompletedTask;
                },
            }, new TangoOptions { IdlePlayback = null });
        var store = await world.OpenAsync();
        using var stop = new CancellationTokenSource();
        var watch = TakeAsync(store.WatchAsync("a", cancellationToken: stop.Token), 1);
        await world.Host.Time.AdvanceUntilAsync(Task.Delay(TimeSpan.FromSeconds(1), world.Host.Time));
        Assert.True(checks >= 10);
        await stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => watch);
        // A check may have been due when the watch ended.
        await world.Host.Time.AdvanceUntilAsync(Task.Delay(TimeSpan.FromSeconds(1), world.Host.Time));
        var before = checks;
        await world.Host.Time.AdvanceUntilAsync(Task.Delay(TimeSpan.FromSeconds(60), world.Host.Time));
        Assert.Equal(before, checks);
        var again = TakeAsync(store.WatchAsync("a"), 1);
        await store.PutAsync("a", Bytes("1"));
        Assert.Equal("2:a=1", Text(await again));
    }

    /// <summary>Watches heard of it one after the other, each behind time-outs of its own.</summary>
    [Fact]
    public async Task Log_that_is_away_ends_all_watches()
    {
        var isOut = false;
        await using var world = new StoreWorld(new InMemoryLogOptions
        {
            BeforeCheck = _ => isOut ? throw new LogUnavailableException("No sequencer") : ValueTask.CompletedTask,
        });
        var store = await world.OpenAsync();
        var watches = Enumerable.Range(0, 20).Select(i => TakeAsync(store.WatchAsync($"{i}"), 1)).ToArray();
        isOut = true;
        var all = Task.WhenAll(watches);
        await world.Host.Time.AdvanceUntilAsync(all.ContinueWith(static _ => { }, TaskScheduler.Default));
        Assert.All(watches, static watch => Assert.IsType<LogUnavailableException>(watch.Exception!.InnerException));
        isOut = false;
        var again = TakeAsync(store.WatchAsync("a"), 1);
        await store.PutAsync("a", Bytes("1"));
        Assert.Equal("2:a=1", Text(await again));
    }

    [Fact]
    public async Task Quiet_watch_tells_progress_when_asked()
    {
        var store = await _world.OpenAsync();
        var requests = new ProgressRequests();
        await using var watch = store.WatchAsync("a", 2, new WatchOptions { Requests = requests }).GetAsyncEnumerator();
        var next = watch.MoveNextAsync().AsTask();
        Assert.Equal(2, await store.PutAsync("b", Bytes("1")));
        Assert.Equal(3, await store.PutAsync("b", Bytes("2")));
        Assert.False(next.IsCompleted);
        requests.Ask(3);
        Assert.True(await next);
        Assert.Equal("3:", Text([watch.Current]));
        // Changes before come first.
        await store.PutAsync("a", Bytes("3"));
        requests.Ask(await store.PutAsync("b", Bytes("4")));
        Assert.True(await watch.MoveNextAsync());
        Assert.Equal("4:a=3", Text([watch.Current]));
        Assert.True(await watch.MoveNextAsync());
        Assert.Equal("5:", Text([watch.Current]));
        next = watch.MoveNextAsync().AsTask();
        Assert.False(next.IsCompleted);
        requests.Ask(5);
        Assert.True(await next);
        Assert.Equal("5:", Text([watch.Current]));
    }

    /// <summary>A watch that waits while very many revisions pass, none of its range, is not behind.</summary>
    [Fact]
    public async Task Watch_of_a_quiet_range_outlives_any_compaction()
    {
        var store = await _world.OpenAsync();
        await using var watch = store.WatchAsync("quiet", 2).GetAsyncEnumerator();
        var next = watch.MoveNextAsync().AsTask();
        for (var i = 1; i <= Pruning.Remembered + 100; i++)
        {
            var revision = await store.PutAsync("a", Bytes($"{i}"));
            if (i % 100 == 0) await store.CompactAsync(revision);
        }

        var last = await store.PutAsync("quiet", Bytes("1"));
        Assert.True(await next);
        Assert.Equal($"{last}:quiet=1", Text([watch.Current]));
    }

    [Fact]
    public async Task Moved_and_reverted_values_are_told_unchanged()
    {
        var store = await _world.OpenAsync();
        await store.PutAsync("a", Bytes("1"));
        await store.PutAsync("a", Bytes("2"));
        await store.PutAsync("b", Bytes("3"));
        await store.MoveValuesAsync(await _world.Host.TailAsync());
        Assert.Equal(5, await store.RevertAsync(2));
        var told = await TakeAsync(store.WatchAsync(StoreRange.All, 2, s_progress), 4);
        Assert.Equal("2:a=1 3:a=2 4:b=3 5:a=1,b-", Text(told));
    }
}
