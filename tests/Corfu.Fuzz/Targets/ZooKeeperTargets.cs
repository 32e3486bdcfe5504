using System.Buffers;
using System.Buffers.Binary;
using System.Text;
using Corfu.ZooKeeper.Client;
using Corfu.ZooKeeper.Serving;
using Corfu.ZooKeeper.Wire;
using Tango;
using Tango.ZooKeeper;
using RequestReader = Corfu.ZooKeeper.Wire.RequestReader;
using WatchRequest = Corfu.ZooKeeper.Wire.WatchRequest;
using WriteRequest = Corfu.ZooKeeper.Wire.WriteRequest;

namespace Corfu.Fuzz;

/// <summary>
/// ZooKeeper's protocol, and the tree's records and checkpoints. A record that throws while it is decided would stop
/// the tree in every process for ever, so nothing may leave the decision.
/// </summary>
public static class ZooKeeperTargets
{
    private const long Session = 4711;
    private const long FrontEnd = 7;

    private static readonly RequestHeader s_header = new(Session, 1, 1, 1_000, [new AuthId("digest", "u:p")]);
    private static readonly TreeRoot s_tree = Begun();

    public static IEnumerable<Target> All()
    {
        yield return new Target("zookeeper requests", 60, [.. Requests().Select(Frame)], Requests)
        { Repair = RepairLength, PerByte = 4096 };
        yield return new Target("zookeeper first frame", 10, [.. FirstFrames()], bytes => ConnectRequest.Read(bytes));
        yield return new Target("zookeeper records", 60, [.. Records().Select(RecordBytes)], Record,
            typeof(TangoFormatException), typeof(TangoUnknownRecordException))
        { PerByte = 4096 };
        yield return new Target("zookeeper checkpoint", 40, [State(TreeRoot.NotBegun), State(s_tree)], Checkpoint,
            typeof(TangoFormatException))
        { Allowance = 2 << 20, PerByte = 8192 };
    }

    /// <summary>Requests of every kind, as a client sends them.</summary>
    internal static IEnumerable<ClientRequest> Requests()
    {
        foreach (var op in Ops()) yield return new WriteRequest(CodeOf(op), op);
        yield return new MultiRequest([.. Ops().Select(CodeOf)], new MultiOp([.. Ops()]));
        OpCode[] reads =
        [
            OpCode.Exists, OpCode.GetData, OpCode.GetAcl, OpCode.GetChildren, OpCode.GetChildren2, OpCode.Sync,
            OpCode.GetEphemerals, OpCode.GetAllChildrenNumber,
        ];
        foreach (var code in reads) yield return new NodeRequest(code, "/a", Watch: code < OpCode.GetAcl);
        yield return new MultiReadRequest(
            [new NodeRequest(OpCode.GetData, "/a"), new NodeRequest(OpCode.GetChildren, "/none")]);
        yield return new WatchRequest(OpCode.AddWatch, "/a", (int)WatchMode.Recursive);
        yield return new WatchRequest(OpCode.RemoveWatches, "/a", (int)WatchKind.Any);
        yield return new WatchRequest(OpCode.CheckWatches, "/a", (int)WatchKind.Data);
        yield return new SetWatchesRequest(OpCode.SetWatches2, 5, ["/a"], ["/b"], ["/"], ["/a/b"], ["/a"]);
        yield return new AuthRequest("digest", [.. "user:secret"u8]);
        yield return new PlainRequest(OpCode.WhoAmI);
        yield return new PlainRequest(OpCode.Ping);
        yield return new PlainRequest(OpCode.Reconfig);
    }

    internal static byte[] Frame(ClientRequest request)
    {
        using var writer = new JuteWriter();
        RequestWriter.Write(writer, 1, request);
        return writer.Written.ToArray();
    }

    /// <summary>As clients with and without the field for reads alone send it.</summary>
    internal static IEnumerable<byte[]> FirstFrames()
    {
        foreach (var readOnly in (bool?[])[null, false, true])
        {
            using var writer = new JuteWriter();
            new ConnectRequest(0, 10_000, readOnly is null ? Session : 0, [.. new byte[16]], readOnly).Write(writer);
            yield return writer.Written.ToArray();
        }
    }

    private static IEnumerable<NodeOp> Ops()
    {
        yield return new CreateOp("/a/c", [1], AclList.Open.Entries, CreateFlags.Persistent);
        yield return new CreateOp(
            "/a/q-", null, [new AclEntry(Permissions.Read, "ip", "10.0.0.0/8")], CreateFlags.EphemeralSequential);
        yield return new CreateOp(
            "/zookeeper/quota/a/zookeeper_limits", Encoding.ASCII.GetBytes("count=3,bytes=100"),
            AclList.Open.Entries, CreateFlags.Persistent);
        yield return new SetDataOp("/a", [1, 2, 3], -1);
        yield return new CheckOp("/a", 0);
        yield return new DeleteOp("/a/c", -1);
    }

    private static OpCode CodeOf(NodeOp op) => op switch
    {
        CreateOp => OpCode.Create2,
        SetDataOp => OpCode.SetData,
        CheckOp => OpCode.Check,
        _ => OpCode.Delete,
    };

    private static IEnumerable<TreeRecord> Records()
    {
        foreach (var op in Ops().Where(static op => op is not CheckOp)) yield return new RequestRecord(s_header, op);
        yield return new RequestRecord(s_header, new MultiOp([.. Ops()]));
        yield return new RequestRecord(s_header, new CloseSessionOp());
        yield return new CreateSessionRecord(5, 1, 4_000, FrontEnd);
        yield return new AttachRecord(Session, 1, 4_000, FrontEnd);
        yield return new BeatRecord(FrontEnd, 3);
        yield return new FrontEndDownRecord(FrontEnd, 0);
        yield return new FrontEndUpRecord(8, TreeLevel.First, "10.0.0.8:2181");
        yield return new ReapRecord([]);
        yield return new BeginRecord(1, TreeLevel.First, new TreeSettings());
        yield return new MountRecord("/m", "zookeeper/main/m");
        yield return new SharedRecord(0, 9, new BeatRecord(FrontEnd, 3));
        yield return new RequestRecord(s_header, new PartOp([.. Ops()], [0, 1, 2, 3, 4, 5], 6));
    }

    private static TreeRoot Begun()
    {
        var root = TreeRoot.NotBegun;
        TreeRecord[] records =
        [
            new BeginRecord(0x5EED, TreeLevel.First, new TreeSettings()),
            new FrontEndUpRecord(FrontEnd, TreeLevel.First, "10.0.0.7:2181"),
            new CreateSessionRecord(Session, 1, 4_000, FrontEnd),
            new RequestRecord(s_header, new CreateOp("/a", [1], AclList.Open.Entries, CreateFlags.Persistent)),
            new RequestRecord(s_header, new CreateOp("/e", [1], AclList.Open.Entries, CreateFlags.Ephemeral)),
        ];
        foreach (var (index, record) in records.Index())
            root = ZooKeeperTree.Decide(root, record, new LogPlace(new LogPosition(index + 1), 0, 0)).Root;
        return root;
    }

    // The frames of a connection behind its first.
    private static void Requests(byte[] bytes)
    {
        var left = new ReadOnlySequence<byte>(bytes);
        var root = s_tree;
        while (Frames.Take(ref left, out var frame) == FrameState.Whole)
        {
            var reader = new JuteReader(frame.ToArray());
            if (!RequestReader.TryReadHead(ref reader, out var head)) return;
            if (!OpCodes.IsRequest(head.Code) || RequestReader.ReadBody(head.Code, ref reader) is not { } request)
                continue;
            root = Serve(root, request);
        }
    }

    private static TreeRoot Serve(TreeRoot root, ClientRequest request)
    {
        using var writer = new JuteWriter();
        switch (request)
        {
            case WriteRequest write:
                return Decide(root, new RequestRecord(s_header, write.Op));
            case MultiRequest multi:
                return Decide(root, new RequestRecord(s_header, multi.Op));
            case NodeRequest { Code: not OpCode.Sync } node:
                Reads.Reply(writer, 1, root.LastZxid, node, Served(root), new ReadCaller(Session, s_header.Ids));
                break;
            case MultiReadRequest reads:
                Reads.Reply(writer, 1, root.LastZxid, reads, Served(root), new ReadCaller(Session, s_header.Ids));
                break;
        }

        return root;
    }

    private static ServedRoots Served(TreeRoot root) =>
        new(root, new Dictionary<string, TreeRoot>(), root.LastZxid);

    // As playback has it: from its bytes.
    private static TreeRoot Decide(TreeRoot root, TreeRecord record) => ZooKeeperTree.Decide(root,
        RecordCodec.Read(record.Number, RecordCodec.Write(record).WrittenMemory), Next(root)).Root;

    private static void Record(byte[] bytes)
    {
        if (bytes.Length == 0) return;
        var record = RecordCodec.Read(bytes[0], bytes.AsMemory(1));
        State(ZooKeeperTree.Decide(s_tree, record, Next(s_tree)).Root);
    }

    private static LogPlace Next(TreeRoot root) => new(new LogPosition((root.LastZxid >> 16) + 1), 0, 0);

    private static void Checkpoint(byte[] bytes) => State(TreeState.Load(bytes));

    private static byte[] State(TreeRoot root)
    {
        var output = new ArrayBufferWriter<byte>();
        TreeState.Save(output, root);
        return output.WrittenSpan.ToArray();
    }

    private static byte[] RecordBytes(TreeRecord record) =>
        [(byte)record.Number, .. RecordCodec.Write(record).WrittenMemory.Span];

    private static void RepairLength(byte[] bytes)
    {
        if (bytes.Length >= sizeof(int)) BinaryPrimitives.WriteInt32BigEndian(bytes, bytes.Length - sizeof(int));
    }
}
