namespace Tango.ZooKeeper.Tests;

/// <summary>Records of partitions, decided by one partition alone.</summary>
public sealed class PartitionRecordTests
{
    private static readonly TreeMount s_mount = new("/a", "zookeeper/main/a");

    [Fact]
    public void Mount_leaves_a_node_in_place_of_the_path_and_an_event()
    {
        var world = new World();
        var effect = world.Do(new MountRecord("/a", s_mount.ObjectName));
        Assert.Equal([s_mount], world.Root.Mounts);
        Assert.Equal(("/", TreeLevel.Partitions), (world.Root.Home, world.Root.Level));
        Assert.Equal([(TreeChangeKind.Created, "/a"), (TreeChangeKind.ChildrenChanged, "/")],
            effect.Changes.Select(change => (change.Kind, change.Path)));
        Assert.Contains("a", world.Node("/").ChildNames());
        Assert.Equal("/a", world.Root.PartitionOf("/a/b/c"));
        Assert.Equal("/", world.Root.PartitionOf("/ab"));
        world.Reload();
        Assert.Equal([s_mount], world.Root.Mounts);
    }

    [Fact]
    public void Adopted_partition_has_the_sessions_settings_and_mounts_of_the_service()
    {
        var world = new World(new TreeSettings(TtlNodes: true));
        world.StartSession();
        var partition = Adopt(world, new TreeMount("/x/a", "zookeeper/main/x/a"));
        Assert.Equal(("/x/a", true, 1), (
            partition.Root.Home, partition.Root.Settings.TtlNodes, partition.Root.MountCount));
        Assert.Equal(1, partition.Root.FindSession(42)!.Attachment);
        Assert.Equal(1, partition.Root.FindFrontEnd(World.FrontEnd)!.Sessions);
        Assert.Equal(5_000, partition.Stat("/x/a").Ctime);
        (partition.Session, partition.Attachment) = (42, 1);
        Assert.Equal("/x/a/lock", partition.Create("/x/a/lock", CreateFlags.Ephemeral));
        partition.Reload();
        Assert.Equal("/x/a", partition.Root.Home);
        Assert.Equal(["/x/a/lock"], partition.Root.FindSession(42)!.Ephemerals);
    }

    [Fact]
    public void Request_of_another_partition_has_no_effect()
    {
        var world = new World();
        world.Create("/b");
        world.Do(new MountRecord("/a", s_mount.ObjectName));
        foreach (var op in (TreeOp[])[
            Op.Create("/a/x"), Op.Set("/a", "1"), Op.Delete("/a/x"),
            new MultiOp([Op.Set("/b", "1"), Op.Create("/a/x")])])
        {
            Assert.Equal(ZooKeeperError.OperationTimeout, world.Error(op));
        }

        Assert.Equal("data", Op.Text(world.Node("/b")));
        // The place of a mount is the parent's.
        Assert.Equal(ZooKeeperError.NodeExists, world.Error(Op.Create("/a")));
        var imported = (ImportResult)world.Apply(new ImportRecord([ImportedNode.Of(world.Node("/b")) with
        {
            Path = "/a/x",
        }])).Result;
        Assert.Equal(ZooKeeperError.OperationTimeout, Assert.Single(imported.Refused).Error);
    }

    [Fact]
    public void Node_of_a_mount_is_never_deleted()
    {
        var world = new World();
        var partition = Adopt(world, s_mount);
        Assert.Equal(ZooKeeperError.BadArguments, partition.Error(Op.Delete("/a")));
        Assert.Equal(ZooKeeperError.OperationTimeout, world.Error(Op.Delete("/a")));
    }

    /// <summary>Z13: a partition would lack the session.</summary>
    [Fact]
    public void Session_record_of_a_writer_that_does_not_know_all_mounts_has_no_effect_anywhere()
    {
        var world = new World();
        var session = new CreateSessionRecord(42, 1, 10_000, World.FrontEnd);
        var partition = Adopt(world, s_mount);
        foreach (var each in (World[])[world, partition])
        {
            Assert.Equal(ZooKeeperError.OperationTimeout, each.Apply(session).Result.Error);
            Assert.Equal(ZooKeeperError.OperationTimeout, each.Apply(new SharedRecord(0, 9, session)).Result.Error);
            Assert.Null(each.Root.FindSession(42));
            var effect = each.Do(new SharedRecord(1, 9, session));
            Assert.Equal((9, ZooKeeperError.Ok), (effect.Ticket, effect.Result.Error));
            Assert.Equal(1, each.Root.FindSession(42)!.Attachment);
        }
    }

    [Fact]
    public void Only_records_of_all_partitions_are_shared()
    {
        var record = new SharedRecord(0, 1, new ReapRecord([]));
        Assert.Throws<TangoFormatException>(
            () => RecordCodec.Read(Mutators.Shared, RecordCodec.Write(record).WrittenMemory));
        var nested = new SharedRecord(0, 1, new SharedRecord(0, 1, new BeatRecord(7, 1)));
        Assert.Throws<TangoFormatException>(
            () => RecordCodec.Read(Mutators.Shared, RecordCodec.Write(nested).WrittenMemory));
    }

    /// <summary>The transaction has decided it: another outcome here would leave half of a multi.</summary>
    [Fact]
    public void Failing_part_stops_the_tree()
    {
        var world = new World();
        world.Create("/b");
        Assert.Throws<TangoFormatException>(
            () => world.Apply(new PartOp([Op.Set("/b", "1"), Op.Create("/b")], [0, 2], 3)));
        var part = Assert.IsType<PartResult>(world.Do(new RequestRecord(
            new RequestHeader(0, 0, 1, 5, []), new PartOp([Op.Set("/b", "1"), Op.Create("/c")], [0, 2], 3))).Result);
        Assert.Equal([0, 2], part.Indexes);
        Assert.Equal(["", "/c"], part.Parts.Select(one => one.Path ?? ""));
    }

    [Fact]
    public void Mount_is_refused_beside_front_ends_of_older_code()
    {
        var world = new World();
        world.Do(new FrontEndUpRecord(8, TreeLevel.First, "10.0.0.8:2181"));
        world.Do(new FrontEndDownRecord(World.FrontEnd, 0));
        Assert.Throws<TangoFormatException>(() => world.Apply(new MountRecord("/a", s_mount.ObjectName)));
    }

    // Mounts it in the world too.
    private static World Adopt(World world, TreeMount mount)
    {
        if (mount.Path.LastIndexOf('/') > 0) world.Create(NodePath.ParentOf(mount.Path)!);
        var record = AdoptRecord.Of(world.Root, mount, World.Seed, 5_000);
        world.Do(new MountRecord(mount.Path, mount.ObjectName));
        var partition = World.NotBegun();
        partition.Do(record);
        return partition;
    }
}
