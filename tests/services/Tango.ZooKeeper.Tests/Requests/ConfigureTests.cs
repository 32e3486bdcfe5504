namespace Tango.ZooKeeper.Tests;

/// <summary>Settings and levels stand in the log (Z19).</summary>
public sealed class ConfigureTests
{
    [Fact]
    public void Record_before_the_beginning_has_no_effect()
    {
        var effect = ZooKeeperTree.Decide(TreeRoot.NotBegun, new FrontEndUpRecord(1, 1, "a"), Place(1));
        Assert.Equal(ZooKeeperError.SystemError, effect.Result.Error);
        Assert.Empty(effect.Root.AllFrontEnds);
    }

    [Fact]
    public void First_beginning_counts()
    {
        var world = new World();
        var again = world.Apply(new BeginRecord(1, TreeLevel.First, new TreeSettings(TtlNodes: true)));
        Assert.Equal(ZooKeeperError.SystemError, again.Result.Error);
        Assert.False(world.Root.Settings.TtlNodes);
        Assert.Equal(["/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"],
            world.Root.Subtree("/").Select(node => node.Path).Order(StringComparer.Ordinal));
        Assert.All(world.Root.Subtree("/"), node => Assert.Equal(0, node.Data!.Value.Length));
        Assert.Equal(AclList.ReadOnly, world.Node("/zookeeper/config").Acl);
    }

    [Fact]
    public void Setting_changes_at_the_position_of_the_record()
    {
        var world = new World();
        Assert.Equal(ZooKeeperError.Unimplemented, world.Error(Op.Ttl("/t", 1)));
        world.Do(new ConfigureRecord(null, TtlNodes: true, null));
        world.Do(Op.Ttl("/t", 1));
        world.Do(new ConfigureRecord(null, null, EnforceQuota: true));
        Assert.Equal(new TreeSettings(TtlNodes: true, EnforceQuota: true), world.Root.Settings);
    }

    [Fact]
    public void Level_of_newer_code_ends_the_tree()
    {
        var world = new World();
        world.Do(new FrontEndDownRecord(World.FrontEnd, 0));
        Assert.Throws<TangoFormatException>(
            () => world.Apply(new ConfigureRecord(TreeLevel.Newest + 1, null, null)));
    }

    [Fact]
    public void Level_above_the_code_of_a_front_end_is_refused()
    {
        var world = new World();
        Assert.Equal(ZooKeeperError.SystemError,
            world.Apply(new ConfigureRecord(TreeLevel.Newest + 1, TtlNodes: true, null)).Result.Error);
        Assert.False(world.Root.Settings.TtlNodes);
    }

    [Fact]
    public void Level_never_falls() => Assert.Equal(
        ZooKeeperError.SystemError, new World().Apply(new ConfigureRecord(0, null, null)).Result.Error);

    [Fact]
    public void Record_without_a_number_has_no_effect()
    {
        var world = new World();
        var root = world.Root;
        var op = new RequestRecord(new RequestHeader(0, 0, 1, 1, []), Op.Create("/a"));
        var effect = ZooKeeperTree.Decide(root, op, new LogPlace(new LogPosition(100), 65_536, 0));
        Assert.Equal((0, ZooKeeperError.SystemError), (effect.Zxid, effect.Result.Error));
        Assert.Same(root, effect.Root);
        var last = ZooKeeperTree.Decide(root, op, new LogPlace(new LogPosition(100), 65_535, 0));
        Assert.Equal((100L << 16) | 65_535, last.Zxid);
        Assert.Equal(ZooKeeperError.Ok, last.Result.Error);
    }

    private static LogPlace Place(long position) => new(new LogPosition(position), 0, 0);
}
