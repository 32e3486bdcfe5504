namespace Tango.ZooKeeper.Tests;

/// <summary>Nodes that are made as another service has them.</summary>
public sealed class ImportTests
{
    private readonly World _world = new();

    [Fact]
    public void New_node_has_all_that_was_given_and_zxids_of_the_record()
    {
        var effect = Import(Node("/a", "data", version: 7, creates: 3, aversion: 2), Node("/a/b", null));
        var stat = _world.Stat("/a");
        Assert.Equal((7, 2 * 3 - 1, 2, 1), (stat.Version, stat.Cversion, stat.Aversion, stat.ChildCount));
        Assert.Equal((5, 9), (stat.Ctime, stat.Mtime));
        Assert.All([stat.Czxid, stat.Mzxid, stat.Pzxid], zxid => Assert.Equal(_world.Zxid, zxid));
        Assert.Equal("data", Op.Text(_world.Node("/a")));
        Assert.Null(_world.Node("/a/b").Data);
        Assert.Equal(AclList.Open, _world.Node("/a").Acl);
        Assert.Equal(
            [
                (TreeChangeKind.Created, "/a"), (TreeChangeKind.ChildrenChanged, "/"),
                (TreeChangeKind.Created, "/a/b"), (TreeChangeKind.ChildrenChanged, "/a"),
            ],
            effect.Changes.Select(change => (change.Kind, change.Path)));
        Assert.Equal(Node("/a", "data", version: 7, creates: 3, aversion: 2), ImportedNode.Of(_world.Node("/a")));
        _world.Reload();
    }

    [Fact]
    public void Sequential_names_go_on_where_the_other_service_was()
    {
        Import(Node("/q", "", creates: 41));
        Assert.Equal("/q/n0000000041", _world.Create("/q/n", CreateFlags.Sequential));
        // A repetition has an older counter.
        Import(Node("/q", "", creates: 41));
        Assert.Equal("/q/n0000000042", _world.Create("/q/n", CreateFlags.Sequential));
    }

    [Fact]
    public void Node_that_is_there_keeps_children_and_place_and_tells_of_new_data_only()
    {
        _world.Create("/a");
        _world.Create("/a/b");
        var before = _world.Stat("/a");
        var effect = Import(Node("/a", "other", version: 4, creates: 1));
        Assert.Equal([(TreeChangeKind.DataChanged, "/a")], effect.Changes.Select(change => (change.Kind, change.Path)));
        var after = _world.Stat("/a");
        Assert.Equal(
            (before.Czxid, before.Pzxid, _world.Zxid, 4), (after.Czxid, after.Pzxid, after.Mzxid, after.Version));
        Assert.Equal(["b"], _world.Node("/a").ChildNames());
        Assert.Empty(Import(Node("/a", "other", version: 4, creates: 1, aversion: 9)).Changes);
        Assert.Equal((after.Mzxid, 9), (_world.Stat("/a").Mzxid, _world.Stat("/a").Aversion));
        Assert.Equal(
            _world.Root.Subtree("/").Sum(node => node.Path.Length + node.DataLength), _world.Root.DataBytes);
        _world.Reload();
    }

    [Fact]
    public void Impossible_nodes_are_refused_and_the_rest_of_the_record_is_made()
    {
        _world.StartSession();
        _world.Create("/e", CreateFlags.Ephemeral);
        var result = (ImportResult)Import(
            Node("/none/x", ""), Node("/e", ""), Node("/e/x", ""), Node("a", ""), Node("/zookeeper/config", "x"),
            Node("/b", "") with { Acl = [] }, Node("/c", "")).Result;
        Assert.Equal(
            [
                new RefusedNode("/none/x", ZooKeeperError.NoNode), new RefusedNode("/e", ZooKeeperError.NodeExists),
                new RefusedNode("/e/x", ZooKeeperError.NoChildrenForEphemerals),
                new RefusedNode("a", ZooKeeperError.BadArguments),
                new RefusedNode("/zookeeper/config", ZooKeeperError.BadArguments),
                new RefusedNode("/b", ZooKeeperError.BadArguments),
            ],
            result.Refused);
        Assert.NotNull(_world.Root.Find("/c"));
        _world.Reload();
    }

    [Fact]
    public void Limits_of_a_quota_are_measured_on_import()
    {
        _world.Create("/a");
        Import(Node("/zookeeper/quota/a", ""), Node("/zookeeper/quota/a/zookeeper_stats", "count=99,bytes=99"),
            Node("/zookeeper/quota/a/zookeeper_limits", "count=5,bytes=-1"));
        Assert.Equal("count=1,bytes=4", Op.Text(_world.Node("/zookeeper/quota/a/zookeeper_stats")));
        Import(Node("/a/b", "12345"));
        Assert.Equal("count=2,bytes=9", Op.Text(_world.Node("/zookeeper/quota/a/zookeeper_stats")));
        Import(Node("/a/b", "1"));
        Assert.Equal("count=2,bytes=5", Op.Text(_world.Node("/zookeeper/quota/a/zookeeper_stats")));
    }

    [Theory]
    [InlineData(0, 0)]
    [InlineData(7, 3)]
    [InlineData(int.MaxValue, 5)]
    public void Creates_follow_from_the_numbers_that_clients_see(int creates, int children)
    {
        var stat = default(NodeStat) with { Cversion = unchecked(2 * creates - children), ChildCount = children };
        Assert.Equal(creates, stat.Creates);
    }

    private TreeEffect Import(params ImmutableArray<ImportedNode> nodes) => _world.Do(new ImportRecord(nodes));

    private static ImportedNode Node(
        string path, string? data, int version = 0, int creates = 0, int aversion = 0) =>
        new(path, Op.Bytes(data), Op.Open, Ctime: 5, Mtime: 9, version, creates, aversion);
}
