namespace Tango.ZooKeeper.Tests;

/// <summary>Partitions of a service over a log in memory, and executions that the rules prevent
/// (docs/rules-zookeeper.md).</summary>
public sealed class TreePartitionsTests
{
    [Fact]
    public async Task Mounted_path_is_a_separate_object()
    {
        await using var world = await PartitionWorld.StartAsync("/a");
        Assert.Equal(["/", "/a"], world.Trees.Hosted.Select(pair => pair.Key));
        Assert.Equal("zookeeper/main/a", world.Tree("/a").ObjectName);
        await world.DoAsync(Op.Create("/a/x"));
        Assert.NotNull((await world.Tree("/a").ReadAsync()).Find("/a/x"));
        var root = await world.Trees.Root.ReadAsync();
        Assert.Null(root.Find("/a/x"));
        Assert.Equal(["a", "zookeeper"], root.Find("/")!.ChildNames().Order());
    }

    [Theory]
    [InlineData("/", "'/' is no path")]
    [InlineData("a", "'a' is no path")]
    [InlineData("/zookeeper/quota/a", "the service's own")]
    [InlineData("/a", "'/a' exists: a path is mounted before it has nodes")]
    [InlineData("/used", "'/used' exists: a path is mounted before it has nodes")]
    [InlineData("/none/b", "'/none/b' has no parent")]
    public async Task Refused_mount_leaves_all_as_before(string path, string reason)
    {
        await using var world = await PartitionWorld.StartAsync("/a");
        await world.DoAsync(Op.Create("/used"));
        var refused = await Assert.ThrowsAsync<ZooKeeperMountException>(
            async () => await world.Trees.MountAsync(path, World.Seed));
        Assert.Contains(reason, refused.Message, StringComparison.Ordinal);
        Assert.Equal(1, (await world.Trees.Root.ReadAsync()).MountCount);
    }

    [Fact]
    public async Task Partition_holds_further_mounts()
    {
        await using var world = await PartitionWorld.StartAsync("/a", "/a/b");
        Assert.Equal(["/", "/a", "/a/b"], world.Trees.Hosted.Select(pair => pair.Key));
        await world.DoAsync(Op.Create("/a/b/x"));
        Assert.NotNull((await world.Tree("/a/b").ReadAsync()).Find("/a/b/x"));
        Assert.Contains("b", (await world.Tree("/a").ReadAsync()).Find("/a")!.ChildNames());
    }

    [Fact]
    public async Task Multi_across_partitions_has_a_single_zxid_or_no_effect()
    {
        await using var world = await PartitionWorld.StartAsync("/a", "/b");
        Assert.Null((await world.MultiAsync(Op.Create("/a/x"), Op.Create("/b/x"), Op.Create("/x"))).Failure);
        var zxids = await world.ZxidsAsync("/a/x", "/b/x", "/x");
        Assert.Equal(zxids[0], zxids[1]);
        Assert.Equal(zxids[0], zxids[2]);

        var failed = (MultiResult)(await world.MultiAsync(
            Op.Create("/a/y"), Op.Set("/b/x", "1", 5), Op.Create("/y"))).Failure!;
        Assert.Equal(
            [ZooKeeperError.Ok, ZooKeeperError.BadVersion, ZooKeeperError.RuntimeInconsistency],
            failed.Parts.Select(part => part.Error));
        Assert.All(await world.ZxidsAsync("/a/y", "/y"), static zxid => Assert.Equal(0, zxid));
    }

    /// <summary>Z15: the multi has read that the path is absent; another create of it comes between.</summary>
    [Fact]
    public async Task Create_between_snapshot_and_commit_aborts_the_multi()
    {
        await using var world = await PartitionWorld.StartAsync("/a", "/b");
        world.Between(() => world.Others.DoAsync(Op.Create("/a/x")));
        var failed = (MultiResult)(await world.MultiAsync(Op.Create("/a/x"), Op.Create("/b/x"))).Failure!;
        Assert.Equal(ZooKeeperError.NodeExists, failed.Parts[0].Error);
        Assert.All(await world.ZxidsAsync("/b/x"), static zxid => Assert.Equal(0, zxid));
    }

    [Fact]
    public async Task Write_of_another_node_between_leaves_the_multi_alone()
    {
        await using var world = await PartitionWorld.StartAsync("/a", "/b");
        await world.DoAsync(Op.Create("/a/other"));
        var tries = world.Between(() => world.Others.DoAsync(Op.Set("/a/other", "1")));
        Assert.Null((await world.MultiAsync(Op.Create("/a/x"), Op.Create("/b/x"))).Failure);
        Assert.Equal(1, tries());
    }

    /// <summary>The session ends between: its ephemeral node would stay for ever.</summary>
    [Fact]
    public async Task Session_expired_between_snapshot_and_commit_creates_no_node()
    {
        await using var world = await PartitionWorld.StartAsync("/a", "/b");
        world.Between(() => world.Others.ExpireAsync());
        var refused = await world.MultiAsync(Op.Create("/a/lock", CreateFlags.Ephemeral), Op.Create("/b/x"));
        Assert.Equal(ZooKeeperError.SessionExpired, refused.Failure!.Error);
        Assert.All(await world.ZxidsAsync("/a/lock", "/b/x"), static zxid => Assert.Equal(0, zxid));
    }

    /// <summary>Z13: an expiry in the root partition's stream alone leaves the nodes of the others.</summary>
    [Fact]
    public async Task End_of_a_session_takes_the_nodes_in_all_partitions_by_a_single_record()
    {
        await using var world = await PartitionWorld.StartAsync("/a", "/b");
        foreach (var path in (string[])["/a/lock", "/b/lock", "/lock"])
            await world.DoAsync(Op.Create(path, CreateFlags.Ephemeral));
        await world.ExpireAsync();
        var ends = new List<long>();
        foreach (var (_, tree) in world.Trees.Hosted)
        {
            var root = await tree.ReadAsync();
            Assert.Null(root.FindSession(PartitionWorld.Session));
            ends.Add(root.LastZxid);
        }

        Assert.Single(ends.Distinct());
        Assert.All(await world.ZxidsAsync("/a/lock", "/b/lock", "/lock"), static zxid => Assert.Equal(0, zxid));
        Assert.Equal(ZooKeeperError.SessionExpired, await world.ErrorAsync(Op.Create("/a/y")));
    }

    /// <summary>Something is mounted between: what is below it is another partition's now.</summary>
    [Fact]
    public async Task Mount_between_snapshot_and_commit_sends_the_multi_back()
    {
        await using var world = await PartitionWorld.StartAsync("/a", "/b");
        world.Between(() => world.Others.Trees.MountAsync("/c", World.Seed).AsTask());
        Assert.Equal(ZooKeeperError.OperationTimeout,
            (await world.MultiAsync(Op.Create("/a/x"), Op.Create("/c"))).Failure!.Error);
        Assert.All(await world.ZxidsAsync("/a/x"), static zxid => Assert.Equal(0, zxid));
    }

    [Fact]
    public async Task Multi_with_a_conflict_at_each_attempt_is_given_up()
    {
        await using var world = await PartitionWorld.StartAsync("/a", "/b");
        await world.DoAsync(Op.Create("/a/x"));
        world.Between(() => world.Others.DoAsync(Op.Set("/a/x", "1")), always: true);
        var given = await world.MultiAsync(TimeSpan.Zero, Op.Set("/a/x", "2"), Op.Create("/b/x"));
        Assert.Equal(ZooKeeperError.OperationTimeout, given.Failure!.Error);
        Assert.All(await world.ZxidsAsync("/b/x"), static zxid => Assert.Equal(0, zxid));
    }

    /// <summary>The front end of the multi ends behind its commit record: another host of all that it read decides, and
    /// a host of one side goes by that.</summary>
    [Fact]
    public async Task Host_of_a_single_partition_plays_on_behind_a_multi()
    {
        await using var world = await PartitionWorld.StartAsync("/a", "/b");
        Assert.Null((await world.MultiAsync(Op.Create("/a/x"), Op.Create("/b/x"))).Failure);
        await using var runtime = new TangoRuntime(world.Log);
        var alone = await runtime.OpenAsync<ZooKeeperTree>("zookeeper/main/b");
        Assert.NotNull((await alone.ReadAsync()).Find("/b/x"));
    }

    [Fact]
    public async Task Settings_reach_all_partitions()
    {
        await using var world = await PartitionWorld.StartAsync("/a");
        await world.Trees.ConfigureAsync(new ConfigureRecord(null, TtlNodes: true, null));
        foreach (var (_, tree) in world.Trees.Hosted) Assert.True((await tree.ReadAsync()).Settings.TtlNodes);
    }
}
