using Tango.Testing;

namespace Tango.ZooKeeper.Tests;

/// <summary>Changes of a tree for programs.</summary>
public sealed class TreeFeedTests
{
    [Fact]
    public async Task Feed_begins_with_the_state_and_tells_results_changes_and_states_in_order()
    {
        await using var host = new TangoTestHost();
        var (runtime, tree) = await StartAsync(host);
        await tree.UpdateAsync(Request(Op.Create("/before")));
        await using var feed = runtime.History.ReadTreeAsync("main").GetAsyncEnumerator();
        Assert.True(await feed.MoveNextAsync());
        Assert.Null(feed.Current.Effect);
        Assert.NotNull(feed.Current.Root.Find("/before"));

        var made = (OpResult)await tree.UpdateAsync(Request(Op.Create("/a")));
        await tree.UpdateAsync(Request(Op.Create("/a")));
        await tree.UpdateAsync(Request(Op.Set("/a", "new")));
        var told = new List<TreeFeedElement>();
        while (told.Count < 3 && await feed.MoveNextAsync()) told.Add(feed.Current);
        Assert.Equal([ZooKeeperError.Ok, ZooKeeperError.NodeExists, ZooKeeperError.Ok],
            told.Select(static element => element.Effect!.Result.Error));
        Assert.Equal(made.Stat!.Value.Czxid, told[0].Zxid);
        Assert.Equal([TreeChangeKind.Created, TreeChangeKind.ChildrenChanged],
            told[0].Effect!.Changes.Select(static change => change.Kind));
        Assert.Equal(("data", "new"), (Op.Text(told[1].Root.Find("/a")!), Op.Text(told[2].Root.Find("/a")!)));
        Assert.Equal(World.Save(await tree.ReadAsync()), World.Save(told[2].Root));
    }

    [Fact]
    public async Task Feed_goes_on_behind_each_record_of_an_entry_and_of_a_transaction()
    {
        await using var host = new TangoTestHost();
        var (runtime, tree) = await StartAsync(host);
        await Task.WhenAll(Enumerable.Range(0, 20).Select(i => tree.UpdateAsync(Request(Op.Create($"/{i}"))).AsTask()));
        await using (var transaction = runtime.BeginTx())
        {
            await tree.UpdateAsync(Request(Op.Create("/t")));
            await transaction.EndTxAsync();
        }

        await tree.UpdateAsync(Request(Op.Create("/last")));
        var newest = await tree.ReadAsync();
        var created = newest.Subtree("/").Select(static node => node.Stat.Czxid).Where(static zxid => zxid > 0)
            .Order().ToList();
        for (var i = 0; i < created.Count - 1; i += 3)
        {
            await using var feed = runtime.History.ReadTreeAsync("main", created[i]).GetAsyncEnumerator();
            Assert.True(await feed.MoveNextAsync());
            Assert.Equal(created[i], feed.Current.Zxid);
            for (var next = i + 1; next < created.Count; next++)
            {
                Assert.True(await feed.MoveNextAsync());
                Assert.Equal(created[next], feed.Current.Zxid);
            }

            Assert.Equal(World.Save(newest), World.Save(feed.Current.Root));
        }
    }

    [Fact]
    public async Task Trimmed_history_is_told_as_a_new_state()
    {
        await using var host = new TangoTestHost();
        var (runtime, tree) = await StartAsync(host);
        await using var feed = runtime.History.ReadTreeAsync("main").GetAsyncEnumerator();
        Assert.True(await feed.MoveNextAsync());
        await tree.UpdateAsync(Request(Op.Create("/a")));
        var end = await runtime.Checkpoints.WriteAsync(tree);
        await host.TrimBelowAsync(end);
        Assert.True(await feed.MoveNextAsync());
        Assert.Null(feed.Current.Effect);
        Assert.NotNull(feed.Current.Root.Find("/a"));
        await using var late = runtime.History.ReadTreeAsync("main", after: 1 << 16).GetAsyncEnumerator();
        await Assert.ThrowsAsync<TangoTrimmedException>(async () => await late.MoveNextAsync());
    }

    private static async Task<(TangoRuntime Runtime, ZooKeeperTree Tree)> StartAsync(TangoTestHost host)
    {
        var runtime = host.Start().Runtime;
        var tree = await runtime.OpenAsync<ZooKeeperTree>("zookeeper/main", OpenMode.Create);
        await tree.UpdateAsync(new BeginRecord(1, 1, new TreeSettings()));
        return (runtime, tree);
    }

    private static RequestRecord Request(TreeOp op) => new(new RequestHeader(0, 0, 0, 1, []), op);
}
