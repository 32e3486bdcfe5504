using Tango.Formatting;

namespace Tango.ZooKeeper.Tests;

public sealed class TreeStateTests
{
    [Fact]
    public void Tree_goes_on_from_a_checkpoint_as_if_there_were_none()
    {
        var world = Busy();
        var other = Busy();
        other.Reload();
        foreach (var op in (TreeOp[])[
            Op.Create("/e/x", CreateFlags.EphemeralSequential), Op.Delete("/many/3"), Op.Set("/e", "again"),
            Op.Create("/many/", CreateFlags.Sequential), new CloseSessionOp(),
        ])
        {
            var (expected, actual) = (world.Apply(op), other.Apply(op));
            Assert.Equal(expected.Result, actual.Result);
            Assert.Equal(expected.Changes, actual.Changes);
            Assert.Equal(world.Save(), other.Save());
        }

        Assert.Equal(world.Root.DataBytes, other.Root.DataBytes);
        Assert.Equal(world.Root.AllFrontEnds, other.Root.AllFrontEnds);
        Assert.Equal(world.Root.ReapableNodes().Select(n => n.Path), other.Root.ReapableNodes().Select(n => n.Path));
        Assert.Equal(world.Node("/many").ChildNames(), other.Node("/many").ChildNames());
    }

    [Fact]
    public void Equal_states_of_other_histories_have_equal_bytes()
    {
        World first = new(), second = new();
        foreach (var name in (string[])["a", "b", "c"]) first.Create($"/{name}");
        second.Apply(new MultiOp([Op.Create("/c"), Op.Create("/x"), Op.Create("/b"), Op.Create("/a")]));
        second.Do(Op.Delete("/x"));
        foreach (var path in (string[])["/", "/a", "/b", "/c"])
        {
            first.LoadNode(path, static _ => default);
            second.LoadNode(path, static _ => default);
        }

        Assert.Equal(World.Save(first.Root.At(1)), World.Save(second.Root.At(1)));
    }

    [Fact]
    public void State_of_a_tree_before_the_beginning_comes_back()
    {
        var state = World.Save(TreeRoot.NotBegun);
        Assert.Equal(state, World.Save(TreeState.Load(state)));
    }

    [Fact]
    public void Zxid_of_a_record_before_the_beginning_comes_back()
    {
        var place = new LogPlace(new LogPosition(5), 0, 0);
        var root = ZooKeeperTree.Decide(TreeRoot.NotBegun, new BeatRecord(1, 1), place).Root;
        var loaded = TreeState.Load(World.Save(root));
        Assert.Equal(5L << 16, root.LastZxid);
        Assert.Equal(root.LastZxid, loaded.LastZxid);
        Assert.Equal(World.Save(root), World.Save(loaded));
    }

    [Fact]
    public void Truncated_state_is_refused_at_every_length()
    {
        var state = Busy().Save();
        for (var length = 0; length < state.Length; length++)
            Assert.Throws<TangoFormatException>(() => TreeState.Load(state.AsMemory(0, length)));
        Assert.Throws<TangoFormatException>(() => TreeState.Load((byte[])[.. state, 0]));
    }

    // A damaged value may still be a value; anything else is told as damage, so that a reader knows what to do.
    [Fact]
    public void Damaged_state_and_damaged_record_give_a_value_or_a_format_error()
    {
        var state = Busy().Save();
        int read = 0, refused = 0;
        foreach (var damaged in Damage(state)) Try(() => World.Save(TreeState.Load(damaged)));
        foreach (var record in Records())
        {
            foreach (var damaged in Damage(RecordCodec.Write(record).WrittenMemory.ToArray()))
                Try(() => RecordCodec.Read(record.Number, damaged));
        }

        Assert.True(read > 0 && refused > 0, $"{read} read, {refused} refused");

        void Try(Action action)
        {
            try
            {
                action();
                read++;
            }
            catch (TangoFormatException)
            {
                refused++;
            }
        }
    }

    [Fact]
    public void Field_of_newer_code_is_refused()
    {
        byte[] state = [0x81, 0xA5, .. "magic"u8, 0x01];
        Assert.Contains("magic", Assert.Throws<TangoFormatException>(() => TreeState.Load(state)).Message);
    }

    [Theory]
    [InlineData("/a/b", "is missing")]
    [InlineData("/", "twice")]
    [InlineData("a", "no path")]
    public void Nodes_without_the_shape_of_a_tree_are_refused(string path, string message)
    {
        var loading = new LoadingTree { Level = 1 };
        loading.Add(AclList.Open);
        loading.Add("/", null, 0, 0, default);
        var damage = Assert.Throws<TangoFormatException>(() =>
        {
            loading.Add(path, null, 0, 0, default);
            loading.ToRoot();
        });
        Assert.Contains(message, damage.Message);
    }

    [Fact]
    public void Ephemeral_node_of_a_missing_session_is_refused()
    {
        var loading = new LoadingTree { Level = 1 };
        loading.Add(AclList.Open);
        loading.Add("/", null, 0, 0, default);
        loading.Add("/a", null, 0, 42, default);
        Assert.Contains("is missing", Assert.Throws<TangoFormatException>(loading.ToRoot).Message);
    }

    [Fact]
    public void Session_of_a_missing_front_end_is_refused() => Assert.Throws<TangoFormatException>(
        () => new LoadingTree().Add(new ZooKeeperSession(1, 1, 1, 1, 9, ZooKeeperSession.NoEphemerals)));

    [Theory]
    [InlineData(21)]
    [InlineData(99)]
    [InlineData(0)]
    public void Record_of_newer_code_is_unknown(int mutator) =>
        Assert.Throws<TangoUnknownRecordException>(() => RecordCodec.Read(mutator, new byte[] { 0x90 }));

    [Fact]
    public void Truncated_record_is_refused_at_every_length()
    {
        foreach (var record in Records())
        {
            var bytes = RecordCodec.Write(record).WrittenMemory;
            for (var length = 0; length < bytes.Length; length++)
                Assert.Throws<TangoFormatException>(() => RecordCodec.Read(record.Number, bytes[..length]));
            Assert.Throws<TangoFormatException>(
                () => RecordCodec.Read(record.Number, (byte[])[.. bytes.Span, 0xC0]));
        }
    }

    [Fact]
    public void Record_comes_back_from_the_bytes()
    {
        foreach (var record in Records())
        {
            var bytes = RecordCodec.Write(record).WrittenMemory;
            var read = RecordCodec.Read(record.Number, bytes);
            Assert.Equal(record.GetType(), read.GetType());
            Assert.Equal(bytes.ToArray(), RecordCodec.Write(read).WrittenMemory.ToArray());
        }
    }

    /// <summary>A nil would be read by no process, and stop the tree.</summary>
    [Fact]
    public void Null_text_is_refused_where_the_record_is_written()
    {
        var header = new RequestHeader(0, 0, 1, 1, []);
        TreeRecord[] records =
        [
            new FrontEndUpRecord(7, 1, null!),
            new ReapRecord([new ReapedNode(null!, 1, 2, 3)]),
            new RequestRecord(header with { Ids = [new AuthId(null!, "u:h")] }, new CloseSessionOp()),
            new RequestRecord(header with { Ids = [new AuthId("digest", null!)] }, new CloseSessionOp()),
            new RequestRecord(header, Op.Create(null!)),
            new RequestRecord(header, Op.Delete(null!)),
            new RequestRecord(header, Op.Set(null!, "data")),
            new RequestRecord(header, new SetAclOp(null!, Op.Open, -1)),
            new RequestRecord(header, new MultiOp([new CheckOp(null!, 1)])),
        ];
        Assert.All(records, record => Assert.Throws<ArgumentNullException>(() => RecordCodec.Write(record)));
    }

    [Fact]
    public void Numbers_of_mutators_are_fixed_by_the_format() => Assert.Equal(
        [
            (1, "Begin"), (2, "Configure"), (3, "FrontEndUp"), (4, "Beat"), (5, "FrontEndDown"),
            (6, "CreateSession"), (7, "Attach"), (8, "CloseSession"), (9, "Expire"), (10, "Create"), (11, "Delete"),
            (12, "SetData"), (13, "SetAcl"), (14, "Multi"), (15, "Part"), (16, "Reap"),
            (17, "Mount"), (18, "Adopt"), (19, "Import"), (20, "Shared"),
        ],
        Mutators.All.Select(info => (info.Number, info.Name)));

    // The same array each time, with another byte changed.
    private static IEnumerable<byte[]> Damage(byte[] bytes)
    {
        for (var i = 0; i < bytes.Length; i++)
        {
            var right = bytes[i];
            foreach (var wrong in (byte[])[0x00, 0x7F, 0xC0, 0xD3, 0xFF, (byte)(right + 1), (byte)(right ^ 0x10)])
            {
                bytes[i] = wrong;
                yield return bytes;
            }

            bytes[i] = right;
        }
    }

    private static IEnumerable<TreeRecord> Records()
    {
        var header = new RequestHeader(42, 3, 17, 1_700_000_000_000, [new AuthId("digest", "u:h")]);
        yield return new BeginRecord(ulong.MaxValue, 1, new TreeSettings(TtlNodes: true));
        yield return new ConfigureRecord(1, null, false);
        yield return new FrontEndUpRecord(7, 1, "host:1");
        yield return new BeatRecord(7, 300);
        yield return new FrontEndDownRecord(7, 300);
        yield return new CreateSessionRecord(42, UInt128.MaxValue, 4_000, 7);
        yield return new AttachRecord(42, 1, 4_000, 7);
        yield return new ExpireRecord(7, 5, [new ExpiredSession(42, 1)]);
        yield return new ReapRecord([new ReapedNode("/a", 1, 2, 3)]);
        yield return new RequestRecord(header, new CloseSessionOp());
        yield return new RequestRecord(header, Op.Ttl("/a", 1L << 39));
        yield return new RequestRecord(header, new CreateOp("", null, default, (CreateFlags)(-1), (CreateKind)500));
        yield return new RequestRecord(header, new CreateOp("/a", [1], [new AclEntry(default, null, null)], 0));
        yield return new RequestRecord(header, Op.Delete("/a", 7));
        yield return new RequestRecord(header, Op.Set("/a", "data", 7));
        yield return new RequestRecord(header, new SetAclOp("/a", Op.Open, -1));
        yield return new RequestRecord(header, new MultiOp([
            Op.Create("/a"), Op.Delete("/b"), Op.Set("/c", null), new CheckOp("/d", 1)]));
    }

    private static World Busy()
    {
        var world = new World(new TreeSettings(TtlNodes: true));
        world.Do(new FrontEndUpRecord(9, 1, "10.0.0.9:2181"));
        world.Do(new BeatRecord(9, 12));
        world.StartSession(41, 9);
        world.Create("/lock", CreateFlags.EphemeralSequential);
        world.Do(new FrontEndDownRecord(9, 12));
        world.StartSession();
        world.Do(new CreateOp("/e", null, Op.Acl(Permissions.All, "ip", "10.0.0.0/8"), CreateFlags.Persistent));
        world.Create("/e/a", CreateFlags.Ephemeral);
        world.Do(Op.Container("/c"));
        world.Do(Op.Ttl("/t", 5, CreateFlags.TtlSequential));
        world.Create("/many", data: "");
        for (var i = 0; i < 40; i++) world.Create($"/many/{i}", data: null);
        world.Create("/zookeeper/quota/many");
        world.Create("/zookeeper/quota/many/zookeeper_limits", data: "count=3,bytes=3");
        world.Create("/zookeeper/quota/many/zookeeper_stats");
        return world;
    }
}
