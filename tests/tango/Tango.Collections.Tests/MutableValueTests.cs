using System.Collections.Immutable;

namespace Tango.Collections.Tests;

[MessagePackObject]
public sealed record Bag([property: Key(0)] List<int> Items);

/// <summary>A reader that changes what it was given changes nothing of the object.</summary>
public sealed class MutableValueTests
{
    [Fact]
    public async Task Register_is_unchanged_by_readers_that_change_the_list()
    {
        await using var cluster = new Cluster();
        var register = await cluster.OpenAsync<TangoRegister<List<int>>>();
        await register.WriteAsync([1]);
        (await register.ReadAsync())!.Add(2);
        (await register.ReadAsync())!.Add(3);
        Assert.Equal([1], (await register.ReadAsync())!);
        List<int>? before = await register.ExchangeAsync([4]);
        Assert.Equal([1], before!);
    }

    [Fact]
    public async Task Dictionary_is_unchanged_by_readers_that_change_arrays()
    {
        await using var cluster = new Cluster();
        TangoRuntime runtime = cluster.NewRuntime();
        var map = await cluster.OpenAsync<TangoDictionary<string, byte[]>>();
#pragma warning disable TANGO025 // On purpose.
        var same = await runtime.OpenAsync<TangoDictionary<string, byte[]>>("object", OpenMode.Create);
#pragma warning restore TANGO025
        await map.SetAsync("x", [1]);
        (await map.TryGetAsync("x")).Value![0] = 2;
        (await map.SnapshotAsync())["x"][0] = 3;
        (await map.GetOrAddAsync("x", [9]))[0] = 4;
        (await map.GetOrAddAsync("y", [7]))[0] = 5;
        Assert.Equal([1], (await map.TryGetAsync("x")).Value!);
        Assert.Equal([7], (await map.TryGetAsync("y")).Value!);
        Assert.False((await map.TryGetAsync("z")).Found);

        await using TangoTransaction transaction = runtime.BeginTx(new TransactionOptions { StartFresh = true });
        (await same.TryGetAsync("x")).Value![0] = 6;
        (await same.GetOrAddAsync("x", [9]))[0] = 7;
        Assert.Equal([1], (await same.TryGetAsync("x")).Value!);
        Assert.True((await transaction.EndTxAsync()).IsCommitted);
        Assert.Equal([1], (await map.TakeAsync("x")).Value!);
    }

    [Fact]
    public async Task Lists_and_queues_are_unchanged_by_readers_that_change_values()
    {
        await using var cluster = new Cluster();
        var list = await cluster.OpenAsync<TangoList<Bag>>("list");
        await list.AddAsync(new Bag([1]));
        (await list.TryGetAsync(0)).Value!.Items.Add(2);
        (await list.SnapshotAsync())[0].Items.Clear();
        Assert.Equal([1], (await list.TryGetAsync(0)).Value!.Items);

        var queue = await cluster.OpenAsync<TangoQueue<ImmutableList<int[]>>>("queue");
        await queue.EnqueueAsync([[1]]);
        (await queue.TryPeekAsync()).Value![0][0] = 2;
        int[] taken = (await queue.TryDequeueAsync()).Value![0];
        Assert.Equal([1], taken);
    }

    [Fact]
    public async Task Immutable_values_are_shared()
    {
        await using var cluster = new Cluster();
        var register = await cluster.OpenAsync<TangoRegister<Versioned>>();
        await register.WriteAsync(new Versioned(1, "a"));
        Assert.Same(await register.ReadAsync(), await register.ReadAsync());
        var map = await cluster.OpenAsync<TangoDictionary<string, ImmutableArray<int>>>("map");
        await map.SetAsync("x", [1]);
        ImmutableArray<int> first = (await map.TryGetAsync("x")).Value;
        Assert.True(first == (await map.TryGetAsync("x")).Value);
    }
}
