namespace Tango.ZooKeeper.Tests;

/// <summary>Z15: keys of records cover what they change, and keys of reads what their success hangs on.</summary>
public sealed class TreeKeysTests
{
    private static readonly string[] s_paths = ["/", "/a", "/a/x", "/a/x/y", "/b"];

    [Fact]
    public void Keys_are_bytes_for_ever()
    {
        Assert.Equal("cf3ea85b53a10a927c", TreeKeys.Node("/a").ToString());
        Assert.Equal("cf", TreeKeys.Sessions.ToString()[..2]);
        Assert.Equal(5, new HashSet<ObjectKey>([
            TreeKeys.Node("/a"), TreeKeys.Children("/a"), TreeKeys.Session(1), TreeKeys.FrontEnd(1),
            TreeKeys.Sessions]).Count);
    }

    /// <summary>Every two requests: the first is decided, the second comes between. If that changes the result of the
    /// first, they share a key.</summary>
    [Fact]
    public void Request_that_changes_the_fate_of_another_shares_a_key()
    {
        NodeOp[] ops =
        [
            .. s_paths.SelectMany(path => (NodeOp[])[
                Op.Create(path), Op.Create(path + (path == "/" ? "s" : "/s"), CreateFlags.Sequential),
                Op.Delete(path), Op.Delete(path, 0), Op.Set(path, "1"), Op.Set(path, "1", 0), new CheckOp(path, 0)]),
            new SetAclOp("/a", Op.Acl(Permissions.Read, "world", "anyone"), -1),
            new SetAclOp("/a/x", Op.Acl(Permissions.Read, "world", "anyone"), -1),
        ];
        var met = 0;
        foreach (var nodes in (string[][])[[], ["/a"], ["/a", "/a/x"], ["/a", "/a/x", "/a/x/y", "/b"]])
        {
            foreach (var decided in ops.Where(static op => op is not SetAclOp))
            {
                foreach (var between in ops.Where(static op => op is not CheckOp))
                {
                    var world = new World();
                    foreach (var node in nodes) world.Create(node);
                    var before = Outcome(world, decided);
                    // A failure is that of its snapshot; only a success stands later.
                    if (before.Error != ZooKeeperError.Ok) continue;
                    world.Apply(between);
                    if (Outcome(world, decided) == before) continue;
                    met++;
                    Assert.True(decided.Reads().Intersect(between.Writes()).Any(), $"{decided} and {between}");
                }
            }
        }

        Assert.True(met > 50);
    }

    [Fact]
    public void Record_of_very_many_keys_stands_for_the_whole_tree()
    {
        var multi = new MultiOp([.. Enumerable.Range(0, 200).Select(i => Op.Set($"/n{i}", "1"))]);
        Assert.True(multi.Keys.IsList);
        Assert.True(new MultiOp([.. multi.Parts, .. Enumerable.Range(200, 100).Select(i => Op.Set($"/n{i}", "1"))])
            .Keys.IsNone);
        Assert.True(new CloseSessionOp().Keys.IsNone);
    }

    private static (ZooKeeperError Error, string? Path) Outcome(World world, NodeOp op)
    {
        var result = op.DecideNode(
            new WorkingTree(world.Root, zxid: 1 << 30, new RequestHeader(0, 0, 1, 5, world.Ids)));
        return (result.Error, result.Path);
    }
}
