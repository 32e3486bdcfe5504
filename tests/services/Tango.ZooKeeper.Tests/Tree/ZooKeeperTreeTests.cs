using Tango.Testing;

namespace Tango.ZooKeeper.Tests;

/// <summary>The tree as an object on a log.</summary>
public sealed class ZooKeeperTreeTests
{
    [Fact]
    public async Task Result_comes_from_playback_and_other_processes_see_the_same_state()
    {
        await using var host = new TangoTestHost();
        var tree = await OpenAsync(host);
        var other = await OpenAsync(host);
        Assert.Equal(ZooKeeperError.Ok, (await tree.UpdateAsync(new BeginRecord(1, 1, new TreeSettings()))).Error);
        Assert.Equal(
            ZooKeeperError.SystemError, (await other.UpdateAsync(new BeginRecord(2, 1, new TreeSettings()))).Error);
        var created = Assert.IsType<OpResult>(await tree.UpdateAsync(Request(Op.Create("/a"))));
        var exists = await other.UpdateAsync(Request(Op.Create("/a")));
        Assert.Equal(("/a", ZooKeeperError.NodeExists), (created.Path, exists.Error));
        var (here, there) = (await tree.ReadAsync(), await other.ReadAsync());
        Assert.Equal(World.Save(here), World.Save(there));
        Assert.Equal(created.Stat, there.Find("/a")!.Stat);
    }

    [Fact]
    public async Task Zxids_of_writes_of_a_shared_entry_differ_and_rise()
    {
        await using var host = new TangoTestHost();
        var tree = await OpenAsync(host);
        await tree.UpdateAsync(new BeginRecord(1, 1, new TreeSettings()));
        var creates = Enumerable.Range(0, 50).Select(i => tree.UpdateAsync(Request(Op.Create($"/{i}"))).AsTask());
        var zxids = (await Task.WhenAll(creates)).Select(result => ((OpResult)result).Stat!.Value.Czxid).ToArray();
        Assert.Equal(zxids.Order(), zxids);
        Assert.Equal(50, zxids.Distinct().Count());
        Assert.Contains(zxids, zxid => (zxid & 0xFFFF) != 0);
        Assert.Equal(zxids[^1], (await tree.ReadAsync()).LastZxid);
    }

    [Fact]
    public async Task Transaction_writes_a_node_and_another_object_together()
    {
        await using var host = new TangoTestHost();
        var process = host.Start();
        var tree = await process.Runtime.OpenAsync<ZooKeeperTree>("zookeeper/a", OpenMode.Create);
        var other = await process.Runtime.OpenAsync<ZooKeeperTree>("zookeeper/b", OpenMode.Create);
        foreach (var each in (ZooKeeperTree[])[tree, other])
            await each.UpdateAsync(new BeginRecord(1, 1, new TreeSettings()));
        await using (var tx = process.Runtime.BeginTx())
        {
            Assert.Equal(ZooKeeperError.Ok, (await tree.UpdateAsync(Request(Op.Create("/a")))).Error);
            Assert.Equal(ZooKeeperError.NodeExists, (await tree.UpdateAsync(Request(Op.Create("/a")))).Error);
            await other.UpdateAsync(Request(Op.Create("/b")));
            Assert.IsType<TxOutcome.Committed>(await tx.EndTxAsync());
        }

        var (a, b) = ((await tree.ReadAsync()).Find("/a")!, (await other.ReadAsync()).Find("/b")!);
        // The transaction has one zxid.
        Assert.Equal(a.Stat.Czxid, b.Stat.Czxid);
        await using (process.Runtime.BeginTx())
            await tree.UpdateAsync(Request(Op.Delete("/a")));
        Assert.NotNull((await tree.ReadAsync()).Find("/a"));
    }

    [Fact]
    public async Task Observer_hears_each_record_with_reply_and_root()
    {
        await using var host = new TangoTestHost();
        var (process, other) = (host.Start(), await OpenAsync(host));
        var tree = await process.Runtime.OpenAsync<ZooKeeperTree>("zookeeper/main", OpenMode.Create);
        await tree.UpdateAsync(new BeginRecord(1, 1, new TreeSettings()));
        var observer = new TreeObserver();
        using var observation = await process.Runtime.ObserveAsync([tree], observer);
        await other.UpdateAsync(Request(Op.Create("/a")));
        await tree.UpdateAsync(Request(Op.Create("/a")));
        await tree.UpdateAsync(Request(Op.Set("/a", "new")));

        Assert.NotNull(observer.Start!.Find("/zookeeper"));
        Assert.Null(observer.Start.Find("/a"));
        Assert.Equal(
            [ZooKeeperError.Ok, ZooKeeperError.NodeExists, ZooKeeperError.Ok],
            observer.Effects.Select(static effect => effect.Result.Error));
        Assert.Equal(
            [TreeChangeKind.Created, TreeChangeKind.ChildrenChanged, TreeChangeKind.DataChanged],
            observer.Effects.SelectMany(static effect => effect.Changes).Select(static change => change.Kind));
        var last = observer.Effects[^1];
        Assert.Equal("new", Op.Text(last.Root.Find("/a")!));
        Assert.Equal("data", Op.Text(observer.Effects[0].Root.Find("/a")!));
        Assert.Equal(observer.Effects.Select(static effect => effect.Zxid).Order(),
            observer.Effects.Select(static effect => effect.Zxid));
        Assert.Same(last.Root, await tree.ReadAsync());
    }

    [Fact]
    public async Task Posts_of_a_connection_take_effect_in_the_order_of_the_calls()
    {
        await using var host = new TangoTestHost();
        var process = host.Start();
        var tree = await process.Runtime.OpenAsync<ZooKeeperTree>("zookeeper/main", OpenMode.Create);
        await tree.UpdateAsync(new BeginRecord(1, 1, new TreeSettings()));
        var observer = new TreeObserver();
        using var observation = await process.Runtime.ObserveAsync([tree], observer);
        var sink = new CountingSink(21);
        tree.Post(Request(Op.Create("/a")), sink);
        for (var i = 0; i < 20; i++) tree.Post(Request(Op.Set("/a", $"{i}", version: i)), sink);
        Assert.Equal(ZooKeeperError.NodeExists, (await tree.UpdateAsync(Request(Op.Create("/a")))).Error);
        await sink.AllAppended.Task;
        Assert.Equal(22, observer.Effects.Count);
        Assert.All(observer.Effects.SkipLast(1), effect => Assert.Equal(ZooKeeperError.Ok, effect.Result.Error));
    }

    [Fact]
    public async Task Spilled_transaction_has_the_zxid_of_the_commit_record()
    {
        await using var host = new TangoTestHost(new InMemoryLogOptions { MaxPayload = 1_000 });
        var process = host.Start();
        var tree = await process.Runtime.OpenAsync<ZooKeeperTree>("zookeeper/main", OpenMode.Create);
        var other = await OpenAsync(host);
        await tree.UpdateAsync(new BeginRecord(1, 1, new TreeSettings()));
        await using var transaction = process.Runtime.BeginTx();
        for (var i = 0; i < 10; i++) await tree.UpdateAsync(Request(Op.Create($"/{i}", data: new string('x', 200))));
        var outcome = Assert.IsType<TxOutcome.Committed>(await transaction.EndTxAsync());
        var zxid = (outcome.Version.Position.Offset << 16) | (uint)outcome.Version.Index;
        foreach (var root in (TreeRoot[])[await tree.ReadAsync(), await other.ReadAsync()])
            Assert.All(Enumerable.Range(0, 10), i => Assert.Equal(zxid, root.Find($"/{i}")!.Stat.Czxid));
    }

    [Fact]
    public async Task Level_that_this_code_does_not_know_is_not_written()
    {
        await using var host = new TangoTestHost();
        var tree = await OpenAsync(host);
        var sink = new CountingSink(1);
        TreeRecord[] records =
        [
            new BeginRecord(1, TreeLevel.Newest + 1, new TreeSettings()),
            new ConfigureRecord(TreeLevel.Newest + 1, null, null),
        ];
        foreach (var record in records)
        {
            await Assert.ThrowsAsync<ArgumentOutOfRangeException>(async () => await tree.UpdateAsync(record));
            Assert.Throws<ArgumentOutOfRangeException>(() => tree.Post(record, sink));
        }

        Assert.Equal(0, (await tree.ReadAsync()).LastZxid);
        await tree.UpdateAsync(new BeginRecord(1, TreeLevel.Newest, new TreeSettings()));
        Assert.Equal(ZooKeeperError.Ok, (await tree.UpdateAsync(Request(Op.Create("/a")))).Error);
    }

    private static ValueTask<ZooKeeperTree> OpenAsync(TangoTestHost host) =>
        host.Start().Runtime.OpenAsync<ZooKeeperTree>("zookeeper/main", OpenMode.Create);

    private static RequestRecord Request(TreeOp op) => new(new RequestHeader(0, 0, 1, 1_000, []), op);

    private sealed class CountingSink(int posts) : IPostSink
    {
        private int _left = posts;

        public TaskCompletionSource AllAppended { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public void OnAppended(RecordVersion version)
        {
            if (--_left == 0) AllAppended.SetResult();
        }

        public void OnInDoubt(TangoInDoubtException reason) => AllAppended.SetException(reason);

        public void OnFailed(Exception reason) => AllAppended.SetException(reason);
    }

    private sealed class TreeObserver : IApplyObserver
    {
        public TreeRoot? Start { get; private set; }

        public List<TreeEffect> Effects { get; } = [];

        public void OnReset(TangoObject handle, ObservedView view) => Start = ZooKeeperTree.RootIn(view);

        public void OnApplied(TangoObject handle, RecordVersion version, object effect) =>
            Effects.Add((TreeEffect)effect);

        public void OnPublished(LogPosition end)
        {
        }

        public void OnStopped(TangoObject handle, Exception reason) =>
            throw new InvalidOperationException("The tree has stopped", reason);
    }
}
