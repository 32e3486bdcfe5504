namespace Tango.ZooKeeper.Tests;

public sealed class MultiTests
{
    private readonly World _world = new();

    [Fact]
    public void Requests_see_earlier_requests_and_share_a_zxid()
    {
        var effect = _world.Apply(new MultiOp([
            Op.Create("/a"), Op.Create("/a/n", CreateFlags.Sequential), Op.Create("/a/n", CreateFlags.Sequential),
            Op.Set("/a", "x", version: 0), new CheckOp("/a", 1), Op.Delete("/a/n0000000000"),
        ]));
        var result = Assert.IsType<MultiResult>(effect.Result);
        Assert.Equal(["/a", "/a/n0000000000", "/a/n0000000001", null, null, null], result.Parts.Select(p => p.Path));
        Assert.All(result.Parts, part => Assert.Equal(ZooKeeperError.Ok, part.Error));
        Assert.Equal(effect.Zxid, _world.Stat("/a").Mzxid);
        Assert.Equal(effect.Zxid, _world.Stat("/a/n0000000001").Czxid);
        // As it was at each step.
        Assert.Equal(2, result.Parts[3].Stat!.Value.ChildCount);
        Assert.Equal(1, _world.Stat("/a").ChildCount);
        Assert.Equal(
            [
                (TreeChangeKind.Created, "/a"), (TreeChangeKind.ChildrenChanged, "/"),
                (TreeChangeKind.Created, "/a/n0000000000"), (TreeChangeKind.ChildrenChanged, "/a"),
                (TreeChangeKind.Created, "/a/n0000000001"), (TreeChangeKind.ChildrenChanged, "/a"),
                (TreeChangeKind.DataChanged, "/a"),
                (TreeChangeKind.Deleted, "/a/n0000000000"), (TreeChangeKind.ChildrenChanged, "/a"),
            ],
            effect.Changes.Select(change => (change.Kind, change.Path)));
    }

    [Fact]
    public void Failed_multi_tells_which_request_failed()
    {
        var effect = _world.Apply(new MultiOp([
            Op.Create("/a"), Op.Create("/b"), new CheckOp("/none", -1), Op.Create("/c"), Op.Create("/d"),
        ]));
        var result = Assert.IsType<MultiResult>(effect.Result);
        Assert.Equal(
            [
                ZooKeeperError.Ok, ZooKeeperError.Ok, ZooKeeperError.NoNode, ZooKeeperError.RuntimeInconsistency,
                ZooKeeperError.RuntimeInconsistency,
            ],
            result.Parts.Select(part => part.Error));
        Assert.All(result.Parts, part => Assert.Null(part.Path));
        Assert.Equal(ZooKeeperError.NoNode, result.Error);
        Assert.Empty(effect.Changes);
    }

    [Fact]
    public void Failed_multi_leaves_no_node_no_counter_and_no_owner()
    {
        var session = _world.StartSession();
        _world.Create("/q");
        _world.Do(Op.Container("/c"));
        var before = _world.Root;
        _world.Apply(new MultiOp([
            Op.Create("/q/n", CreateFlags.EphemeralSequential), Op.Container("/d"), Op.Delete("/c"),
            new CheckOp("/q", 7),
        ]));
        Assert.Equal(World.Save(before), World.Save(_world.Root.At(before.LastZxid)));
        Assert.Empty(_world.Root.FindSession(session)!.Ephemerals);
        Assert.Equal("/q/n0000000000", _world.Create("/q/n", CreateFlags.Sequential));
    }

    [Fact]
    public void Empty_multi_succeeds() =>
        Assert.Empty(Assert.IsType<MultiResult>(_world.Apply(new MultiOp([])).Result).Parts);

    [Fact]
    public void List_of_access_control_is_not_set_in_a_multi() =>
        Assert.Throws<ArgumentException>(() => _world.Apply(new MultiOp([new SetAclOp("/", Op.Open, -1)])));

    [Fact]
    public void Check_looks_at_path_node_right_and_version_in_this_order()
    {
        Assert.Equal(ZooKeeperError.BadArguments, Check("a"));
        Assert.Equal(ZooKeeperError.NoNode, Check("/a"));
        _world.Do(new CreateOp("/a", null, Op.Acl(~Permissions.Read, "world", "anyone"), CreateFlags.Persistent));
        Assert.Equal(ZooKeeperError.NoAuth, Check("/a"));
        _world.Create("/b");
        Assert.Equal(ZooKeeperError.BadVersion, Check("/b"));
        Assert.Equal(ZooKeeperError.Ok, _world.Error(new MultiOp([new CheckOp("/b", 0)])));
        Assert.Equal(ZooKeeperError.Ok, _world.Error(new MultiOp([new CheckOp("/b", -1)])));
    }

    private ZooKeeperError Check(string path) => _world.Error(new MultiOp([new CheckOp(path, 9)]));
}
