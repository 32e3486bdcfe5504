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

    private static ValueTask<ZooKeeperTree> OpenAsync(TangoTestHost host) =>
        host.Start().Runtime.OpenAsync<ZooKeeperTree>("zookeeper/main", OpenMode.Create);

    private static RequestRecord Request(TreeOp op) => new(new RequestHeader(0, 0, 1, 1_000, []), op);
}
