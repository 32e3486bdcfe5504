namespace Tango.ZooKeeper.Tests;

public sealed class DeleteTests
{
    private readonly World _world = new();

    [Theory]
    [InlineData("")]
    [InlineData("a")]
    [InlineData("/a\0")]
    [InlineData("/")]
    [InlineData("/zookeeper")]
    [InlineData("/zookeeper/quota")]
    [InlineData("/zookeeper/config")]
    public void Path_of_no_node_or_of_the_service_is_a_bad_argument(string path) =>
        Assert.Equal(ZooKeeperError.BadArguments, _world.Error(Op.Delete(path)));

    [Theory]
    [InlineData("/none/a")]
    [InlineData("/none")]
    [InlineData("/a/")]
    [InlineData("none/a")]
    public void Missing_parent_and_missing_node_are_no_node(string path)
    {
        _world.Create("/a");
        Assert.Equal(ZooKeeperError.NoNode, _world.Error(Op.Delete(path)));
    }

    [Fact]
    public void Right_to_delete_is_the_parents_and_is_looked_at_before_the_node()
    {
        _world.Do(new CreateOp("/a", null, Op.Acl(~Permissions.Delete, "world", "anyone"), CreateFlags.Persistent));
        Assert.Equal(ZooKeeperError.NoAuth, _world.Error(Op.Delete("/a/none")));
        // The node's own list does not matter.
        _world.Do(Op.Delete("/a"));
    }

    [Fact]
    public void Version_is_looked_at_before_the_children()
    {
        _world.Create("/a");
        _world.Create("/a/b");
        Assert.Equal(ZooKeeperError.BadVersion, _world.Error(Op.Delete("/a", version: 1)));
        Assert.Equal(ZooKeeperError.NotEmpty, _world.Error(Op.Delete("/a", version: 0)));
        Assert.Equal(ZooKeeperError.NotEmpty, _world.Error(Op.Delete("/a")));
    }

    [Fact]
    public void Delete_changes_children_of_the_parent_and_no_data()
    {
        _world.Create("/a");
        _world.Create("/a/b");
        var before = _world.Stat("/a");
        var effect = _world.Apply(Op.Delete("/a/b", version: 0));
        Assert.Null(_world.Root.Find("/a/b"));
        Assert.Equal(before with { Pzxid = _world.Zxid, Cversion = 2, ChildCount = 0 }, _world.Stat("/a"));
        Assert.Equal(
            [
                new TreeChange(TreeChangeKind.Deleted, "/a/b", AclList.Open),
                new TreeChange(TreeChangeKind.ChildrenChanged, "/a", AclList.Open),
            ],
            effect.Changes);
    }

    [Fact]
    public void Deleted_ephemeral_node_leaves_the_session()
    {
        var session = _world.StartSession();
        _world.Create("/a", CreateFlags.Ephemeral);
        _world.Create("/b", CreateFlags.Ephemeral);
        _world.Do(Op.Delete("/a"));
        Assert.Equal(["/b"], _world.Root.FindSession(session)!.Ephemerals);
    }

    [Fact]
    public void Deleted_container_is_no_longer_looked_at_by_observers()
    {
        _world.Do(Op.Container("/c"));
        _world.Do(Op.Delete("/c"));
        Assert.Empty(_world.Root.ReapableNodes());
    }
}
