using CsCheck;

namespace Tango.ZooKeeper.Tests;

/// <summary>Random programs against <see cref="PlainTree"/>: replies, events, and the state at the end.</summary>
public sealed class ModelTests
{
    private static readonly string[] s_paths =
    [
        "/", "/a", "/b", "/a/x", "/a/x/y", "/b/q-", "/a/", "/b/", "//", "a", "/none/x", "/b/.", "/zookeeper/config",
        "/zookeeper/quota/a", "/zookeeper/quota/a/zookeeper_limits", "/zookeeper/quota/a/zookeeper_stats",
        "/zookeeper/quota/a/x", "/zookeeper/quota/a/x/zookeeper_limits", "/zookeeper/quota/a/x/zookeeper_stats",
        "/a/0000000000", "/a/0000000001", "/b/q-0000000000", "/b/q-0000000001",
    ];

    private static readonly string?[] s_data =
        [null, "", "1", "12345", "countHardLimit=3", "bytes=1;byteHardLimit=9;countHardLimit=4"];

    private static readonly ImmutableArray<AclEntry>[] s_acls =
    [
        Op.Open, Op.Open, Op.Open, Op.Open, default, [], Op.Acl(Permissions.All, "nobody", "x"),
        Op.Acl(Permissions.All, "auth", ""), Op.Acl(Permissions.All, "digest", "u:h"),
        Op.Acl(Permissions.All, "ip", "10.0.0.0/8"), Op.Acl(Permissions.Read | Permissions.Create, "world", "anyone"),
        [.. Op.Open, new AclEntry(Permissions.Read, "digest", "u:h"), .. Op.Open],
    ];

    private static readonly ImmutableArray<AuthId>[] s_ids =
    [
        [new AuthId("ip", "10.1.1.1")], [new AuthId("ip", "11.1.1.1")],
        [new AuthId("ip", "11.1.1.1"), new AuthId("digest", "u:h")], [new AuthId("super", "")],
    ];

    // Five paths are used as often as all others.
    private static readonly Gen<string> s_path = Gen.OneOf(Gen.Int[0, s_paths.Length - 1], Gen.Int[1, 5])
        .Select(static i => s_paths[i]);

    private static readonly Gen<byte[]?> s_bytes =
        Gen.Int[0, s_data.Length - 1].Select(static i => Op.Bytes(s_data[i]));

    private static readonly Gen<int> s_version = Gen.Frequency((3, Gen.Const(-1)), (1, Gen.Int[0, 1]));

    private static readonly Gen<ImmutableArray<AclEntry>> s_acl =
        Gen.Int[0, s_acls.Length - 1].Select(static i => s_acls[i]);

    private static readonly Gen<CreateKind> s_kind = Gen.Frequency(
        (6, Gen.Const(CreateKind.Plain)), (2, Gen.Const(CreateKind.Container)), (2, Gen.Const(CreateKind.Ttl)));

    private static readonly Gen<NodeOp> s_create = Gen.Select(
        s_path, s_bytes, s_acl, Gen.Int[-1, 7], s_kind, Gen.Int[-1, 3],
        static (path, data, acl, flags, kind, ttl) => (NodeOp)new CreateOp(path, data, acl, (CreateFlags)flags,
            kind, ttl));

    private static readonly Gen<NodeOp> s_plainCreate = Gen.Select(s_path, s_bytes, Gen.Int[0, 3],
        static (path, data, flags) => (NodeOp)new CreateOp(path, data, Op.Open, (CreateFlags)flags));

    private static readonly Gen<NodeOp> s_partOp = Gen.Frequency(
        (2, s_create), (5, s_plainCreate),
        (3, Gen.Select(s_path, s_version, static (path, version) => (NodeOp)new DeleteOp(path, version))),
        (3, Gen.Select(s_path, s_bytes, s_version,
            static (path, data, version) => (NodeOp)new SetDataOp(path, data, version))),
        (1, Gen.Select(s_path, s_version, static (path, version) => (NodeOp)new CheckOp(path, version))));

    private static readonly Gen<TreeOp> s_op = Gen.Frequency(
        (8, s_partOp.Where(static op => op is not CheckOp).Select(static op => (TreeOp)op)),
        (1, Gen.Select(s_path, s_acl, s_version,
            static (path, acl, version) => (TreeOp)new SetAclOp(path, acl, version))),
        (3, s_partOp.Array[0, 4].Select(static parts => (TreeOp)new MultiOp([.. parts]))),
        (1, s_bytes.Select(static limits => (TreeOp)new MultiOp([
            Op.Create("/zookeeper/quota/a"),
            new CreateOp("/zookeeper/quota/a/zookeeper_limits", limits, Op.Open, CreateFlags.Persistent),
            Op.Create("/zookeeper/quota/a/zookeeper_stats")]))),
        (1, Gen.Const(static () => (TreeOp)new CloseSessionOp())));

    private static readonly Gen<Step> s_step = Gen.Frequency(
        (12, Gen.Select(s_op, Gen.Int[0, 2], Gen.Int[1, 2], Gen.Int[0, 3], Gen.Int[0, 3],
            static (op, session, attachment, ids, time) => (Step)new Request(
                op, new Caller(session, attachment, time, s_ids[ids])))),
        (2, Gen.Select(Gen.Int[1, 2], Gen.Int[1, 2],
            static (session, frontEnd) => (Step)new Start(session, frontEnd))),
        (1, Gen.Select(Gen.Int[1, 2], Gen.Int[1, 2],
            static (session, frontEnd) => (Step)new Attach(session, frontEnd))),
        (1, Gen.Select(Gen.Int[1, 2], Gen.Int[0, 2], Gen.Int[1, 2],
            static (frontEnd, beat, attachment) => (Step)new Expire(frontEnd, beat, attachment))),
        (1, Gen.Int[1, 2].Select(static frontEnd => (Step)new Up(frontEnd))),
        (1, Gen.Select(Gen.Int[1, 2], Gen.Int[1, 2], static (frontEnd, beat) => (Step)new Beat(frontEnd, beat))),
        (1, Gen.Select(Gen.Int[1, 2], Gen.Int[0, 2], static (frontEnd, beat) => (Step)new Down(frontEnd, beat))),
        (1, Gen.Select(Gen.Bool, Gen.Bool, static (ttl, quota) => (Step)new Configure(ttl, quota))),
        (1, Gen.Const(static () => (Step)new Observe())),
        (1, Gen.Const(static () => (Step)new Reap())),
        (1, Gen.Const(static () => (Step)new Reload())));

    // Chance alone seldom fills a node to its quota, ends a session that has nodes, or empties a container.
    private static readonly Gen<Step[]> s_start = Gen.Frequency(
        (8, Gen.Const(static () => Array.Empty<Step>())),
        (1, Gen.Const(static () => new Step[]
        {
            new Up(1), new Start(1, 1), new Configure(true, true), Ask(Op.Create("/a")),
            Ask(Op.Create("/zookeeper/quota/a")),
            Ask(Op.Create("/zookeeper/quota/a/zookeeper_limits", data: "countHardLimit=3")),
            Ask(Op.Create("/zookeeper/quota/a/zookeeper_stats")),
            Ask(Op.Create("/a/1")), Ask(Op.Create("/a/2")), Ask(Op.Create("/a/3")),
        })),
        (1, Gen.Const(static () => new Step[]
        {
            new Up(1), new Start(1, 1), Ask(Op.Create("/e", CreateFlags.Ephemeral)), Ask(Op.Container("/c")),
            Ask(Op.Create("/c/1")), Ask(Op.Delete("/c/1")),
        })));

    [Fact]
    public void Program_gives_the_results_of_a_plain_tree()
    {
        var seen = new HashSet<string>();
        Gen.Select(s_start, s_step.Array[1, 100], static (start, steps) => (Step[])[.. start, .. steps]).Sample(
            program =>
            {
                var run = new ModelRun();
                foreach (var step in program) step.Run(run);
                run.Compare();
                lock (seen) seen.UnionWith(run.Seen);
            },
            iter: 1_500, print: static program => string.Join("\n", program.Select(step => step.ToString())));
        // Else the programs say little: each result, and each kind of end of a node, has occurred.
        string[] expected =
        [
            "Ok", "Unimplemented", "BadArguments", "NoNode", "NoAuth", "BadVersion", "NoChildrenForEphemerals",
            "NodeExists", "NotEmpty", "SessionExpired", "InvalidAcl", "SessionMoved", "QuotaExceeded", "SystemError",
            "multi done", "multi failed", "closed with nodes", "expired with nodes", "reaped", "not reaped",
        ];
        Assert.Empty(expected.Except(seen));
    }

    private static Request Ask(NodeOp op) => new(op, new Caller(1, 1, 0, s_ids[3]));
}
