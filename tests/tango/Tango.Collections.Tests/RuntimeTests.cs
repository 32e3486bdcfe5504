using System.Collections.Immutable;

namespace Tango.Collections.Tests;

/// <summary>The collections through the whole runtime, several of them on one log.</summary>
public sealed class RuntimeTests
{
    [Fact]
    public async Task Two_replicas_of_a_dictionary_are_one_map()
    {
        await using var cluster = new Cluster();
        TangoDictionary<string, int>[] maps = [await cluster.OpenAsync<TangoDictionary<string, int>>(),
            await cluster.OpenAsync<TangoDictionary<string, int>>()];
        var model = new Dictionary<string, int>();
        var random = new Random(11);
        for (int step = 0; step < 600; step++)
        {
            TangoDictionary<string, int> map = maps[random.Next(2)];
            string key = $"{random.Next(8)}";
            switch (random.Next(6))
            {
                case 0:
                    await map.SetAsync(key, step);
                    model[key] = step;
                    break;
                case 1:
                    Assert.Equal(model.TryAdd(key, step), await map.TryAddAsync(key, step));
                    break;
                case 2:
                    Assert.Equal(model.Remove(key), await map.RemoveAsync(key));
                    break;
                case 3:
                    Assert.Equal(model.TryGetValue(key, out int value),
                        (await map.TryGetAsync(key)).TryGet(out int read));
                    Assert.Equal(value, read);
                    break;
                case 4:
                    Assert.Equal(model.Count, await map.CountAsync());
                    break;
                default:
                    Assert.Equal(model.OrderBy(p => p.Key), (await map.SnapshotAsync()).OrderBy(p => p.Key));
                    break;
            }
        }
        // A runtime that was never there plays the whole log.
        TangoDictionary<string, int> late = await cluster.OpenAsync<TangoDictionary<string, int>>();
        Assert.Equal(model.OrderBy(p => p.Key), (await late.SnapshotAsync()).OrderBy(p => p.Key));
    }

    [Fact]
    public async Task Each_queued_item_is_taken_once_by_whoever_asks()
    {
        const int items = 300;
        await using var cluster = new Cluster();
        TangoQueue<int> producer = await cluster.OpenAsync<TangoQueue<int>>();
        await Task.WhenAll(Enumerable.Range(0, items).Select(i => producer.EnqueueAsync(i).AsTask()));
        var consumers = new List<TangoQueue<int>>();
        for (int i = 0; i < 3; i++) consumers.Add(await cluster.OpenAsync<TangoQueue<int>>());
        List<int>[] taken = await Task.WhenAll(consumers.Select(DrainAsync));
        Assert.Equal(Enumerable.Range(0, items), taken.SelectMany(t => t).Order());
        Assert.Equal(0, await producer.CountAsync());
    }

    [Fact]
    public async Task One_of_many_concurrent_adds_of_a_key_wins()
    {
        await using var cluster = new Cluster();
        TangoSet<string>[] sets = [await cluster.OpenAsync<TangoSet<string>>(),
            await cluster.OpenAsync<TangoSet<string>>()];
        bool[] results =
            await Task.WhenAll(Enumerable.Range(0, 20).Select(i => sets[i % 2].AddAsync("leader").AsTask()));
        Assert.Single(results, r => r);
        Assert.Equal(1, await sets[0].CountAsync());
    }

    [Fact]
    public async Task Increments_give_distinct_numbers_and_overflow_is_told()
    {
        await using var cluster = new Cluster();
        TangoCounter[] counters = [await cluster.OpenAsync<TangoCounter>(), await cluster.OpenAsync<TangoCounter>()];
        long[] numbers =
            await Task.WhenAll(Enumerable.Range(0, 100).Select(i => counters[i % 2].IncrementAsync().AsTask()));
        Assert.Equal(Enumerable.Range(1, 100).Select(i => (long)i), numbers.Order());
        await counters[0].SetAsync(long.MaxValue);
        await Assert.ThrowsAsync<TangoRejectedException>(() => counters[1].IncrementAsync().AsTask());
        Assert.Equal(long.MaxValue, await counters[0].ReadAsync());
    }

    [Fact]
    public async Task R23_a_list_reports_refusals_and_goes_on()
    {
        await using var cluster = new Cluster();
        TangoList<string> list = await cluster.OpenAsync<TangoList<string>>();
        await list.AddAsync("a");
        await Assert.ThrowsAsync<TangoRejectedException>(() => list.InsertAsync(5, "x").AsTask());
        await Assert.ThrowsAsync<TangoRejectedException>(() => list.RemoveAtAsync(1).AsTask());
        await list.InsertAsync(0, "b");
        Assert.Equal("a", await list.SetAsync(1, "c"));
        Assert.Equal(["b", "c"], await list.SnapshotAsync());
    }

    [Fact]
    public async Task R18_operations_on_different_keys_do_not_conflict_but_the_count_does()
    {
        await using var cluster = new Cluster();
        TangoRuntime runtime = cluster.NewRuntime();
        var map = await runtime.OpenAsync<TangoDictionary<string, int>>("object", OpenMode.Create);
        TangoDictionary<string, int> other = await cluster.OpenAsync<TangoDictionary<string, int>>();
        await map.SetAsync("a", 1);

        Assert.True(
            (await WithConflictAsync(runtime, async () => await map.TryGetAsync("a"), () => other.SetAsync("b", 1),
                map)).IsCommitted);
        Assert.False(
            (await WithConflictAsync(runtime, async () => await map.TryGetAsync("a"), () => other.SetAsync("a", 2),
                map)).IsCommitted);
        Assert.False(
            (await WithConflictAsync(runtime, async () => await map.CountAsync(), () => other.SetAsync("b", 2),
                map)).IsCommitted);
        Assert.False(
            (await WithConflictAsync(runtime, async () => await map.TryGetAsync("a"), () => other.ClearAsync(),
                map)).IsCommitted);
        // R16: what returns a value reads its key.
        Assert.False(
            (await WithConflictAsync(runtime, async () => await map.RemoveAsync("a"), () => other.SetAsync("a", 3),
                map)).IsCommitted);
        Assert.True(
            (await WithConflictAsync(runtime, async () => await map.RemoveAsync("a"), () => other.SetAsync("c", 3),
                map)).IsCommitted);
    }

    [Fact]
    public async Task Jobs_move_between_collections_without_loss_under_contention()
    {
        const int jobs = 60;
        await using var cluster = new Cluster();
        Board first = await Board.OpenAsync(cluster.NewRuntime());
        for (int i = 0; i < jobs; i++) await first.Pending.EnqueueAsync(new Job(i, $"user {i % 3}"));
        var boards = new List<Board> { first };
        for (int i = 0; i < 2; i++) boards.Add(await Board.OpenAsync(cluster.NewRuntime()));
        await Task.WhenAll(boards.Select(b => b.WorkAsync()));

        Board fresh = await Board.OpenAsync(cluster.NewRuntime());
        ImmutableDictionary<long, Job> done = await fresh.Done.SnapshotAsync();
        Assert.Equal(Enumerable.Range(0, jobs).Select(i => (long)i), done.Keys.Order());
        Assert.Equal(jobs, await fresh.Moved.ReadAsync());
        Assert.Equal(0, await fresh.Pending.CountAsync());
    }

    [Fact]
    public async Task Transaction_sees_own_writes_in_every_collection()
    {
        await using var cluster = new Cluster();
        TangoRuntime runtime = cluster.NewRuntime();
        Board board = await Board.OpenAsync(runtime);
        await board.Pending.EnqueueAsync(new Job(1, "a"));
        await runtime.SyncAsync();
        await using (TangoTransaction transaction = runtime.BeginTx())
        {
            await board.Pending.EnqueueAsync(new Job(2, "b"));
            Assert.Equal(2, await board.Pending.CountAsync());
            Assert.Equal(1, (await board.Pending.TryDequeueAsync()).Value!.Id);
            await board.Done.SetAsync(7, new Job(7, "c"));
            Assert.True(await board.Done.ContainsKeyAsync(7));
            Assert.Equal(5, await board.Moved.IncrementAsync(5));
        }
        // Dropped without EndTx: nothing of it happened.
        Assert.Equal(1, await board.Pending.CountAsync());
        Assert.False(await board.Done.ContainsKeyAsync(7));
        Assert.Equal(0, await board.Moved.ReadAsync());
    }

    [Fact]
    public async Task Types_that_cannot_be_stored_or_be_keys_are_refused_when_opened()
    {
        await using var cluster = new Cluster();
        TangoRuntime runtime = cluster.NewRuntime();
        var noKey =
            await Assert.ThrowsAsync<TangoFormatException>(
                () => runtime.OpenAsync<TangoDictionary<decimal, int>>("a", OpenMode.Create).AsTask());
        Assert.Contains("version key", noKey.Message, StringComparison.Ordinal);
        var noFormat =
#pragma warning disable TANGO008 // That is what is tested.
            await Assert.ThrowsAsync<TangoFormatException>(() =>
                runtime.OpenAsync<TangoList<Exception>>("b", OpenMode.Create).AsTask());
#pragma warning restore TANGO008
        Assert.Contains("no formatter", noFormat.Message, StringComparison.Ordinal);
        Assert.Empty(await runtime.Directory.ListAsync());
    }

    private static async Task<List<int>> DrainAsync(TangoQueue<int> queue)
    {
        var taken = new List<int>();
        while ((await queue.TryDequeueAsync()).TryGet(out int item)) taken.Add(item);
        return taken;
    }

    private static async Task<TxOutcome> WithConflictAsync(
        TangoRuntime runtime, Func<Task> read, Func<ValueTask> conflict, TangoDictionary<string, int> map)
    {
        await runtime.SyncAsync();
        await using TangoTransaction transaction = runtime.BeginTx();
        await read();
        await conflict();
        await map.SetAsync("result", 1);
        return await transaction.EndTxAsync();
    }
}
