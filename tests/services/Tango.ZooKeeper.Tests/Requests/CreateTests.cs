namespace Tango.ZooKeeper.Tests;

/// <summary>Create: each check in its order, and the effect.</summary>
public sealed class CreateTests
{
    private readonly World _world = new(new TreeSettings(TtlNodes: true));

    [Fact]
    public void Created_node_has_the_zxid_and_time_of_the_record()
    {
        _world.Time = 5_000;
        var result = _world.Do(Op.Create("/a", data: "one"));
        Assert.Equal("/a", result.Path);
        var zxid = _world.Zxid;
        Assert.Equal(new NodeStat(zxid, zxid, zxid, 5_000, 5_000, 0, 0, 0, 0, 3, 0), result.Stat);
        Assert.Equal(result.Stat, _world.Stat("/a"));
        Assert.Equal("one", Op.Text(_world.Node("/a")));
    }

    [Fact]
    public void Create_changes_children_of_the_parent_and_no_data()
    {
        _world.Create("/a");
        var before = _world.Stat("/a");
        _world.Create("/a/b");
        Assert.Equal(before with { Pzxid = _world.Zxid, Cversion = 1, ChildCount = 1 }, _world.Stat("/a"));
        Assert.Equal(["b"], _world.Node("/a").ChildNames());
    }

    [Fact]
    public void Null_data_and_empty_data_differ()
    {
        _world.Create("/null", data: null);
        _world.Create("/empty", data: "");
        Assert.Null(_world.Node("/null").Data);
        Assert.Equal(0, _world.Node("/empty").Data!.Value.Length);
    }

    [Fact]
    public void Effect_of_a_create_tells_of_the_node_and_then_of_the_parent()
    {
        var effect = _world.Apply(Op.Create("/a"));
        Assert.Equal(
            [
                new TreeChange(TreeChangeKind.Created, "/a", AclList.Open),
                new TreeChange(TreeChangeKind.ChildrenChanged, "/", AclList.Open),
            ],
            effect.Changes);
        Assert.Equal((_world.Zxid, _world.Root), (effect.Zxid, effect.Root));
    }

    [Theory]
    [InlineData(7)]
    [InlineData(-1)]
    public void Unknown_flags_are_bad_arguments(int flags) =>
        Assert.Equal(ZooKeeperError.BadArguments, _world.Error(Op.Create("/a", (CreateFlags)flags)));

    [Fact]
    public void Disabled_TTL_is_unimplemented_before_any_other_check()
    {
        var world = new World();
        Assert.Equal(ZooKeeperError.Unimplemented, world.Error(Op.Ttl("no path", ttl: 0)));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(-1)]
    [InlineData(1L << 40)]
    public void Ttl_out_of_range_is_a_bad_argument(long ttl) =>
        Assert.Equal(ZooKeeperError.BadArguments, _world.Error(Op.Ttl("/a", ttl)));

    [Theory]
    [InlineData(1)]
    [InlineData((1L << 40) - 1)]
    public void Ttl_in_range_is_kept_and_shown_as_no_owner(long ttl)
    {
        _world.Do(Op.Ttl("/a", ttl));
        Assert.Equal(ttl, _world.Node("/a").Ttl);
        Assert.Equal(0, _world.Stat("/a").EphemeralOwner);
        Assert.True(_world.Node("/a").IsReapable);
    }

    [Theory]
    [InlineData(CreateFlags.Persistent, CreateKind.Ttl)]
    [InlineData(CreateFlags.Ttl, CreateKind.Plain)]
    [InlineData(CreateFlags.Ttl, CreateKind.Container)]
    public void Flags_against_the_kind_of_request_are_bad_arguments(CreateFlags flags, CreateKind kind) =>
        Assert.Equal(ZooKeeperError.BadArguments, _world.Error(new CreateOp("/a", null, Op.Open, flags, kind, 5)));

    [Fact]
    public void Container_is_asked_for_by_the_request_and_not_by_the_flags()
    {
        _world.Do(Op.Create("/plain", CreateFlags.Container));
        _world.Do(Op.Container("/container"));
        Assert.False(_world.Node("/plain").IsReapable);
        Assert.True(_world.Node("/container").IsReapable);
        Assert.Equal(0, _world.Stat("/container").EphemeralOwner);
        Assert.Null(_world.Node("/container").Ttl);
        Assert.Equal(["/container"], _world.Root.ReapableNodes().Select(node => node.Path));
    }

    [Theory]
    [InlineData("")]
    [InlineData("a")]
    [InlineData("/a\0b")]
    public void Path_without_a_slash_or_with_a_NUL_is_bad_before_the_list_is_looked_at(string path) =>
        Assert.Equal(ZooKeeperError.BadArguments,
            _world.Error(new CreateOp(path, null, default, CreateFlags.Persistent)));

    [Fact]
    public void List_is_looked_at_before_the_parent() =>
        Assert.Equal(ZooKeeperError.InvalidAcl,
            _world.Error(new CreateOp("/none/a", null, default, CreateFlags.Persistent)));

    [Theory]
    [InlineData("/none/a")]
    [InlineData("a/b")]
    [InlineData("/none//")]
    public void Missing_parent_is_no_node_before_the_path_is_looked_at(string path) =>
        Assert.Equal(ZooKeeperError.NoNode, _world.Error(Op.Create(path)));

    [Fact]
    public void Right_to_create_is_the_parents_and_is_looked_at_before_the_path()
    {
        _world.Do(new CreateOp("/a", null, Op.Acl(~Permissions.Create, "world", "anyone"), CreateFlags.Persistent));
        Assert.Equal(ZooKeeperError.NoAuth, _world.Error(Op.Create("/a/\u0001")));
        Assert.Equal(ZooKeeperError.NoAuth, _world.Error(Op.Create("/a/b")));
    }

    [Theory]
    [InlineData("/a/\u0001")]
    [InlineData("//")]
    [InlineData("/a/")]
    [InlineData("/a/..")]
    public void Invalid_path_is_a_bad_argument(string path)
    {
        _world.Create("/a");
        Assert.Equal(ZooKeeperError.BadArguments, _world.Error(Op.Create(path)));
    }

    [Theory]
    [InlineData("/")]
    [InlineData("/a")]
    [InlineData("/zookeeper/config")]
    public void Existing_node_is_not_created(string path)
    {
        _world.Create("/a");
        Assert.Equal(ZooKeeperError.NodeExists, _world.Error(Op.Create(path)));
    }

    [Fact]
    public void Child_of_an_ephemeral_node_is_refused_after_the_node_was_looked_for()
    {
        _world.StartSession();
        _world.Create("/a", CreateFlags.Ephemeral);
        Assert.Equal(ZooKeeperError.NoChildrenForEphemerals, _world.Error(Op.Create("/a/b")));
    }

    [Fact]
    public void Child_of_a_container_or_of_a_TTL_node_is_allowed()
    {
        _world.Do(Op.Container("/c"));
        _world.Do(Op.Ttl("/t", 10));
        _world.Create("/c/a");
        _world.Create("/t/a");
        Assert.Equal(1, _world.Stat("/c").ChildCount);
        Assert.Equal(1, _world.Stat("/t").ChildCount);
    }

    [Fact]
    public void Ephemeral_node_is_owned_by_the_session()
    {
        var session = _world.StartSession();
        _world.Create("/b", CreateFlags.Ephemeral);
        _world.Create("/a", CreateFlags.EphemeralSequential);
        Assert.Equal(session, _world.Stat("/b").EphemeralOwner);
        Assert.Equal(["/a0000000001", "/b"], _world.Root.FindSession(session)!.Ephemerals);
    }

    [Fact]
    public void Ephemeral_node_without_a_session_is_a_bad_argument() =>
        Assert.Equal(ZooKeeperError.BadArguments, _world.Error(Op.Create("/a", CreateFlags.Ephemeral)));

    [Fact]
    public void Failed_create_leaves_the_state_and_moves_the_zxid()
    {
        _world.Create("/a");
        var (before, zxid) = (_world.Stat("/"), _world.Zxid);
        var effect = _world.Apply(Op.Create("/a"));
        Assert.Equal(before, _world.Stat("/"));
        Assert.Empty(effect.Changes);
        Assert.True(effect.Zxid > zxid);
        Assert.Equal(effect.Zxid, _world.Zxid);
    }
}
