using System.Buffers;

namespace Tango.ZooKeeper.Tests;

/// <summary>A tree alone, to which records are applied as playback does: by their bytes, at rising positions.</summary>
internal sealed class World
{
    public const ulong Seed = 0x5EED;
    public const long FrontEnd = 7;

    private long _position = 1;

    public World(TreeSettings? settings = null)
    {
        Do(new BeginRecord(Seed, TreeLevel.First, settings ?? new TreeSettings()));
        Do(new FrontEndUpRecord(FrontEnd, TreeLevel.Newest, "10.0.0.7:2181"));
    }

    private World(TreeRoot root) => Root = root;

    public TreeRoot Root { get; private set; } = TreeRoot.NotBegun;

    /// <summary>The newest record's.</summary>
    public long Zxid => Root.LastZxid;

    public long Time { get; set; } = 1_000;

    /// <summary>Program in whose name requests are made; 0: no session.</summary>
    public long Session { get; set; }

    public int Attachment { get; set; } = 1;

    public ImmutableArray<AuthId> Ids { get; set; } = [new AuthId("ip", "10.0.0.1")];

    /// <summary>A tree that has no record.</summary>
    public static World NotBegun() => new(TreeRoot.NotBegun);

    public TreeEffect Apply(TreeRecord record)
    {
        var read = RecordCodec.Read(record.Number, RecordCodec.Write(record).WrittenMemory);
        var effect = ZooKeeperTree.Decide(Root, read, new LogPlace(new LogPosition(_position++), 0, 0));
        Root = effect.Root;
        return effect;
    }

    /// <summary>Applies a record that must succeed.</summary>
    public TreeEffect Do(TreeRecord record)
    {
        var effect = Apply(record);
        Assert.Equal(ZooKeeperError.Ok, effect.Result.Error);
        return effect;
    }

    public TreeEffect Apply(TreeOp op) =>
        Apply(new RequestRecord(new RequestHeader(Session, Attachment, 1, Time, Ids), op));

    public ZooKeeperError Error(TreeOp op) => Apply(op).Result.Error;

    public OpResult Do(TreeOp op)
    {
        var effect = Apply(op);
        Assert.Equal(ZooKeeperError.Ok, effect.Result.Error);
        return Assert.IsType<OpResult>(effect.Result);
    }

    /// <summary>Creates a node and returns its path.</summary>
    public string Create(string path, CreateFlags flags = CreateFlags.Persistent, string? data = "data") =>
        Do(Op.Create(path, flags, data)).Path!;

    public ZNode Node(string path) => Root.Find(path) ?? throw new InvalidOperationException($"'{path}' is missing");

    public NodeStat Stat(string path) => Node(path).Stat;

    /// <summary>Creates a session, in whose name requests are made from now on.</summary>
    public long StartSession(long id = 42, long frontEnd = FrontEnd)
    {
        Do(new CreateSessionRecord(id, 1, 10_000, frontEnd));
        (Session, Attachment) = (id, 1);
        return id;
    }

    public void Replace(Func<TreeRoot, TreeRoot> change) => Root = change(Root);

    public byte[] Save() => Save(Root);

    public static byte[] Save(TreeRoot root)
    {
        var output = new ArrayBufferWriter<byte>();
        TreeState.Save(output, root);
        return output.WrittenSpan.ToArray();
    }

    /// <summary>Goes on from a checkpoint, which must give the same state.</summary>
    public void Reload()
    {
        var state = Save();
        Root = TreeState.Load(state);
        Assert.Equal(state, Save());
    }
}

/// <summary>Requests with what a test does not care about filled in.</summary>
internal static class Op
{
    public static ImmutableArray<AclEntry> Open { get; } = AclList.Open.Entries;

    public static CreateOp Create(string path, CreateFlags flags = CreateFlags.Persistent, string? data = "data") =>
        new(path, Bytes(data), Open, flags);

    public static CreateOp Container(string path) =>
        new(path, null, Open, CreateFlags.Container, CreateKind.Container);

    public static CreateOp Ttl(string path, long ttl, CreateFlags flags = CreateFlags.Ttl) =>
        new(path, null, Open, flags, CreateKind.Ttl, ttl);

    public static SetDataOp Set(string path, string? data, int version = -1) => new(path, Bytes(data), version);

    public static DeleteOp Delete(string path, int version = -1) => new(path, version);

    public static ImmutableArray<AclEntry> Acl(Permissions permissions, string scheme, string id) =>
        [new AclEntry(permissions, scheme, id)];

    public static byte[]? Bytes(string? text) => text is null ? null : System.Text.Encoding.UTF8.GetBytes(text);

    public static string Text(byte[]? data) => System.Text.Encoding.UTF8.GetString(data ?? []);

    public static string? Text(ZNode node) =>
        node.Data is { } data ? System.Text.Encoding.UTF8.GetString(data.Span) : null;
}

/// <summary>States that a test could not reach by requests in reasonable time.</summary>
internal static class WorldStates
{
    /// <summary>The tree with other counters of one node.</summary>
    public static void LoadNode(this World world, string path, Func<NodeCounters, NodeCounters> change)
    {
        var node = world.Node(path);
        var changed = new ZNode(path, node.RawData, node.Acl, node.Owner, change(node.Counters));
        changed.LoadChildren(node.Children);
        world.Replace(root => new TreeRoot(root.Parts with { Nodes = root.Parts.Nodes.Set(changed) }));
    }

    /// <summary>The root as of another record, for comparisons.</summary>
    public static TreeRoot At(this TreeRoot root, long zxid) => new(root.Parts with { LastZxid = zxid });
}
