using System.Collections.Immutable;
using Corfu.Simulation.Kernel;
using Corfu.ZooKeeper.Client;
using Corfu.ZooKeeper.Wire;
using Tango.ZooKeeper;

namespace Corfu.Simulation.ZooKeeper;

/// <summary>Requests of the clients: writes of their own nodes and of nodes that all contend for, reads that leave
/// watches, and multis across partitions.</summary>
internal sealed class ZooRequests(ZooKeeperMonitor monitor, Func<IReadOnlyList<ZooClientSession>> clients)
{
    private static readonly ImmutableArray<AclEntry> s_anyone = [new((Permissions)31, "world", "anyone")];

    private readonly Dictionary<MultiRequest, CrossMulti> _multis = new(ReferenceEqualityComparer.Instance);
    private long _marks;

    /// <summary>Some requests that are sent at once.</summary>
    public IEnumerable<ClientRequest> Next(long session, SimRandom random, ZooClientSession client)
    {
        IReadOnlyList<string> homes = [NodePath.Root, .. monitor.Mounts];
        for (int left = random.Between(1, 3); left > 0; left--)
        {
            if (random.Chance(0.4)) yield return Watching(homes, session, random);
            else if (homes.Count > 1 && random.Chance(0.3)) yield return Across(homes, random, client);
            else yield return Write(homes, session, random);
        }
    }

    /// <param name="reply">Null: the connection was lost.</param>
    public void Answered(ClientRequest request, ServerReply? reply)
    {
        if (request is not MultiRequest multi || !_multis.TryGetValue(multi, out CrossMulti? cross)) return;
        monitor.Ended(cross, reply is null ? null : reply.Error != ErrorCode.Ok ? reply.Error
            : reply.Parts.Select(static part => part.Error).FirstOrDefault(static error => error != ErrorCode.Ok));
    }

    private static ClientRequest Watching(IReadOnlyList<string> homes, long session, SimRandom random)
    {
        string path = random.Next(8) switch
        {
            0 => SimFrontEnd.Ephemerals,
            1 => SimFrontEnd.Sequences,
            2 => $"{SimFrontEnd.Ephemerals}/{session:x}-{random.Next(4)}",
            3 or 4 => ContendedPath(random.Pick(homes), random),
            5 => ParentIn(random.Pick(homes)),
            _ => random.Pick(SimFrontEnd.Registers),
        };
        return random.Next(12) switch
        {
            0 => new WatchRequest(OpCode.AddWatch, path, (int)WatchMode.Persistent),
            1 => new WatchRequest(OpCode.AddWatch, path, (int)WatchMode.Recursive),
            2 => new WatchRequest(OpCode.RemoveWatches, path, (int)WatchKind.Any),
            3 => new NodeRequest(OpCode.Sync, path),
            4 => new PlainRequest(OpCode.Ping),
            5 or 6 => new NodeRequest(OpCode.GetChildren2, path, Watch: true),
            7 or 8 => new NodeRequest(OpCode.Exists, path, Watch: true),
            9 => new NodeRequest(OpCode.GetData, path),
            _ => new NodeRequest(OpCode.GetData, path, Watch: true),
        };
    }

    private static ClientRequest Write(IReadOnlyList<string> homes, long session, SimRandom random)
    {
        if (homes.Count > 1 && random.Chance(0.5))
            return Of(Contended(random.Pick(homes), random, mayCheck: false));
        string register = random.Pick(SimFrontEnd.Registers);
        var sequential = new CreateOp($"{SimFrontEnd.Sequences}/n-", [1], s_anyone,
            random.Chance(0.5) ? CreateFlags.EphemeralSequential : CreateFlags.Sequential);
        return random.Next(10) switch
        {
            0 or 1 or 2 => Of(new CreateOp($"{SimFrontEnd.Ephemerals}/{session:x}-{random.Next(4)}", [2], s_anyone,
                CreateFlags.Ephemeral)),
            3 => Of(new DeleteOp($"{SimFrontEnd.Ephemerals}/{session:x}-{random.Next(4)}", -1)),
            4 or 5 => Of(sequential),
            6 or 7 => Multi([sequential, new SetDataOp(register, [3], random.Next(4))]),
            8 => Of(new SetDataOp(register, BitConverter.GetBytes(session),
                random.Chance(0.5) ? -1 : random.Next(6))),
            _ => Of(new SetDataOp(register, [4], -1)),
        };
    }

    // A part for each of some partitions: it creates a node that no other request touches, and one or two requests
    // hang on what others write. Rivals write that between the multi's snapshot and its commit.
    private MultiRequest Across(IReadOnlyList<string> homes, SimRandom random, ZooClientSession client)
    {
        bool isEphemeral = random.Chance(0.3);
        var cross = new CrossMulti(++_marks, isEphemeral, [.. homes.Where(
            (_, index) => index < 2 || random.Chance(0.5))]);
        var ops = cross.Marks.Select(NodeOp (path) => new CreateOp(path, [5], s_anyone,
            isEphemeral ? CreateFlags.Ephemeral : CreateFlags.Persistent)).ToList();
        for (int left = random.Between(1, 2); left > 0; left--)
        {
            NodeOp contended = Contended(random.Pick(cross.Homes), random, mayCheck: true);
            ops.Insert(random.Next(ops.Count + 1), contended);
            ZooClientSession rival = random.Pick(clients());
            if (rival == client || contended is not (CreateOp or DeleteOp or SetDataOp)) continue;
            rival.SendLater(Of(contended), TimeSpan.FromMicroseconds(random.Exponential(1_000)));
        }

        MultiRequest request = Multi([.. ops]);
        _multis.Add(request, cross);
        monitor.Began(cross);
        return request;
    }

    // Requests of all clients touch these nodes, which come and go.
    private static NodeOp Contended(string home, SimRandom random, bool mayCheck)
    {
        string path = ContendedPath(home, random);
        return random.Next(mayCheck ? 7 : 6) switch
        {
            0 or 1 => new CreateOp(path, [6], s_anyone, CreateFlags.Persistent),
            2 => new DeleteOp(path, -1),
            3 => new SetDataOp(path, [7], random.Chance(0.5) ? -1 : random.Next(2)),
            4 => new CreateOp($"{path}/n-", [8], s_anyone, CreateFlags.EphemeralSequential),
            5 => new SetDataOp(ParentIn(home), [9], -1),
            _ => new CheckOp(path, random.Next(2)),
        };
    }

    private static string ContendedPath(string home, SimRandom random) => $"{ParentIn(home)}/c{random.Next(2)}";

    private static string ParentIn(string home) => home == NodePath.Root ? SimFrontEnd.Marks : home;

    private static MultiRequest Multi(ImmutableArray<NodeOp> ops) => new([.. ops.Select(CodeOf)], new MultiOp(ops));

    private static WriteRequest Of(NodeOp op) => new(CodeOf(op), op);

    private static OpCode CodeOf(NodeOp op) => op switch
    {
        CreateOp => OpCode.Create2,
        DeleteOp => OpCode.Delete,
        SetDataOp => OpCode.SetData,
        _ => OpCode.Check,
    };
}
