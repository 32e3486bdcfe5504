namespace Tango.ZooKeeper.Tests;

public sealed class SetDataTests
{
    private readonly World _world = new();

    [Theory]
    [InlineData("")]
    [InlineData("a")]
    [InlineData("/a/")]
    [InlineData("/./a")]
    public void Invalid_path_is_a_bad_argument(string path) =>
        Assert.Equal(ZooKeeperError.BadArguments, _world.Error(Op.Set(path, "x")));

    [Fact]
    public void Missing_node_is_no_node() => Assert.Equal(ZooKeeperError.NoNode, _world.Error(Op.Set("/a", "x")));

    [Fact]
    public void Right_to_write_is_looked_at_before_the_version()
    {
        _world.Do(new CreateOp("/a", null, Op.Acl(~Permissions.Write, "world", "anyone"), CreateFlags.Persistent));
        Assert.Equal(ZooKeeperError.NoAuth, _world.Error(Op.Set("/a", "x", version: 9)));
    }

    [Fact]
    public void Matching_version_is_raised()
    {
        _world.Create("/a");
        Assert.Equal(ZooKeeperError.BadVersion, _world.Error(Op.Set("/a", "x", version: 1)));
        _world.Time = 2_000;
        var before = _world.Stat("/a");
        var result = _world.Do(Op.Set("/a", "longer", version: 0));
        Assert.Equal(
            before with { Mzxid = _world.Zxid, Mtime = 2_000, Version = 1, DataLength = 6 }, result.Stat);
        Assert.Equal("longer", Op.Text(_world.Node("/a")));
        Assert.Equal(2, _world.Do(Op.Set("/a", null)).Stat!.Value.Version);
        Assert.Null(_world.Node("/a").Data);
    }

    [Fact]
    public void Data_of_the_root_may_be_set()
    {
        _world.Do(Op.Set("/", "root"));
        Assert.Equal("root", Op.Text(_world.Node("/")));
    }

    [Fact]
    public void Mtime_is_never_before_ctime()
    {
        _world.Create("/a");
        _world.Time -= 500;
        Assert.Equal(_world.Stat("/a").Ctime, _world.Do(Op.Set("/a", "x")).Stat!.Value.Mtime);
    }

    [Fact]
    public void Version_skips_the_number_for_any()
    {
        _world.Create("/a");
        _world.LoadNode("/a", counters => counters with { Version = int.MaxValue });
        Assert.Equal(int.MinValue, _world.Do(Op.Set("/a", "x")).Stat!.Value.Version);
        _world.LoadNode("/a", counters => counters with { Version = -2 });
        Assert.Equal(0, _world.Do(Op.Set("/a", "x", version: -2)).Stat!.Value.Version);
    }

    [Fact]
    public void Effect_tells_of_the_data()
    {
        _world.Create("/a");
        Assert.Equal([new TreeChange(TreeChangeKind.DataChanged, "/a", AclList.Open)],
            _world.Apply(Op.Set("/a", "x")).Changes);
    }

    [Fact]
    public void Published_root_keeps_the_old_data()
    {
        _world.Create("/a", data: "old");
        var (published, saved) = (_world.Root, _world.Save());
        _world.Do(Op.Set("/a", "new"));
        _world.Create("/a/b");
        _world.Do(Op.Delete("/a/b"));
        Assert.Equal("old", Op.Text(published.Find("/a")!));
        Assert.Equal(saved, World.Save(published));
    }
}
