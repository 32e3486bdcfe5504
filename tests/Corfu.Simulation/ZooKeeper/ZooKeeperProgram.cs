using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Workload;
using Tango;
using Tango.ZooKeeper;

namespace Corfu.Simulation.ZooKeeper;

/// <summary>Front ends of one tree, and sessions that move between them with writes under way, close, or fall
/// silent.</summary>
internal sealed class ZooKeeperProgram(
    World world, ZooKeeperPlan plan, ClusterMonitor cluster, Ledger ledger, Workers workers) : IClientProgram
{
    private static readonly AclEntry s_anyone = new((Permissions)31, "world", "anyone");

    private readonly ZooKeeperMonitor _monitor = new(cluster);

    // Sessions that any client may go on with.
    private readonly List<Session> _sessions = [];

    public async Task RunAsync(SimClientNode node)
    {
        SimFrontEnd frontEnd = await SimFrontEnd.OpenAsync(node, plan, world, _monitor);
        Task beating = frontEnd.BeatAsync(() => ledger.Exhausted);
        await workers.RunAsync(node, random => WorkAsync(frontEnd, random));
        await beating;
    }

    public async Task AuditAsync(SimClientNode node, Func<Task> scan)
    {
        SimFrontEnd frontEnd = await SimFrontEnd.OpenAsync(node, plan, world, _monitor, hostsAll: true);
        _monitor.Audit(await frontEnd.ReadAsync());
        await scan();
    }

    public IEnumerable<Violation> Verdicts(bool isAudited) => _monitor.Verdicts();

    private async Task WorkAsync(SimFrontEnd frontEnd, SimRandom random)
    {
        while (!ledger.Exhausted)
        {
            try
            {
                await LiveAsync(frontEnd, random);
            }
            catch (Exception e) when (SimFrontEnd.IsExpected(e))
            {
                _monitor.Mark("zookeeper write in doubt");
            }

            await Task.Delay(plan.BeatInterval * random.NextDouble(), frontEnd.Time);
        }
    }

    // Connection of a session: opened, used, and left.
    private async Task LiveAsync(SimFrontEnd frontEnd, SimRandom random)
    {
        bool isNew = _sessions.Count == 0 || random.Chance(0.4);
        Session session = isNew ? new Session(SimFrontEnd.Draw(random), random.NextUInt64()) : random.Pick(_sessions);
        var timeout = (int)plan.Timeout.TotalMilliseconds;
        TreeRecord record = isNew
            ? new CreateSessionRecord(session.Id, session.Hash, timeout, frontEnd.Id)
            : new AttachRecord(session.Id, session.Hash, timeout, frontEnd.Id);
        if (isNew) _sessions.Add(session);
        var result = await frontEnd.ShareAsync(record);
        if (result is not SessionResult { Error: ZooKeeperError.Ok } attached)
        {
            if (result.Error == ZooKeeperError.SessionExpired) _sessions.Remove(session);
            return;
        }

        frontEnd.Hear(session.Id);
        _monitor.Mark(isNew ? "zookeeper session created" : "zookeeper session moved");
        long number = 0;
        for (int rounds = random.Between(1, 5); rounds > 0 && !ledger.Exhausted; rounds--)
        {
            ZooKeeperError[] errors;
            if (frontEnd.Hosted.Count > 1 && random.Chance(0.4))
            {
                // Z16: nothing else of the client is under way.
                errors = [await SendAcrossAsync(
                    frontEnd, new Write(session.Id, attached.Attachment, ++number), random)];
            }
            else if (random.Chance(0.03))
            {
                // As these, where the session is to end in several partitions.
                errors = [await SendAsync(
                    frontEnd, new Write(session.Id, attached.Attachment, ++number), new CloseSessionOp())];
            }
            else
            {
                errors = await Task.WhenAll(Enumerable.Range(0, random.Between(1, 3)).Select(_ => SendAsync(
                    frontEnd, new Write(session.Id, attached.Attachment, ++number),
                    Next(session, frontEnd.Hosted, random))).ToList());
            }

            if (errors.Any(error => error is ZooKeeperError.SessionMoved or ZooKeeperError.SessionExpired)) return;
            frontEnd.Hear(session.Id);
            if (random.Chance(0.2)) await Task.Delay(plan.Timeout * random.NextDouble() * 2, frontEnd.Time);
        }
    }

    private async Task<ZooKeeperError> SendAsync(SimFrontEnd frontEnd, Write write, TreeOp op)
    {
        var header = new RequestHeader(write.Session, write.Attachment, write.Number,
            frontEnd.Time.GetUtcNow().ToUnixTimeMilliseconds(), []);
        TreeResult result = await frontEnd.UpdateAsync(new RequestRecord(header, op));
        _monitor.Replied(write, result);
        ledger.Done();
        return result.Error;
    }

    // A part for each of some partitions: it creates a node that no other request touches, and one or two requests
    // hang on what others write.
    private async Task<ZooKeeperError> SendAcrossAsync(SimFrontEnd frontEnd, Write write, SimRandom random)
    {
        var header = new RequestHeader(write.Session, write.Attachment, write.Number,
            frontEnd.Time.GetUtcNow().ToUnixTimeMilliseconds(), []);
        bool isEphemeral = random.Chance(0.3);
        var multi = new CrossMulti(write, isEphemeral, [.. frontEnd.Hosted.Where(
            (_, index) => index < 2 || random.Chance(0.5))]);
        var ops = multi.Marks.Select(NodeOp (path) => new CreateOp(path, [5], [s_anyone],
            isEphemeral ? CreateFlags.Ephemeral : CreateFlags.Persistent)).ToList();
        for (int left = random.Between(1, 2); left > 0; left--)
            ops.Insert(random.Next(ops.Count + 1), Contended(random.Pick(multi.Homes), random, mayCheck: true));
        _monitor.Began(multi);
        var outcome = await frontEnd.DecideAsync(
            new RequestRecord(header, new MultiOp([.. ops])), isOnce: random.Chance(0.5));
        ledger.Done();
        _monitor.Ended(multi, outcome);
        // In doubt: its connection ends (Z6).
        return outcome.IsInDoubt ? ZooKeeperError.SessionMoved : outcome.Failure?.Error ?? ZooKeeperError.Ok;
    }

    // Requests of all front ends touch these nodes, which come and go.
    private static NodeOp Contended(string home, SimRandom random, bool mayCheck)
    {
        string parent = home == NodePath.Root ? SimFrontEnd.Marks : home;
        string path = $"{parent}/c{random.Next(2)}";
        return random.Next(mayCheck ? 6 : 5) switch
        {
            0 => new CreateOp(path, [6], [s_anyone], CreateFlags.Persistent),
            1 => new DeleteOp(path, -1),
            2 => new SetDataOp(path, [7], random.Chance(0.5) ? -1 : random.Next(2)),
            3 => new CreateOp($"{path}/n-", [8], [s_anyone], CreateFlags.EphemeralSequential),
            4 => new SetDataOp(parent, [9], -1),
            _ => new CheckOp(path, random.Next(2)),
        };
    }

    private static TreeOp Next(Session session, IReadOnlyList<string> hosted, SimRandom random)
    {
        if (hosted.Count > 1 && random.Chance(0.5)) return Contended(random.Pick(hosted), random, mayCheck: false);
        string register = random.Pick(SimFrontEnd.Registers);
        var sequential = new CreateOp($"{SimFrontEnd.Sequences}/n-", [1], [s_anyone],
            random.Chance(0.5) ? CreateFlags.EphemeralSequential : CreateFlags.Sequential);
        return random.Next(10) switch
        {
            0 or 1 or 2 => new CreateOp($"{SimFrontEnd.Ephemerals}/{session.Id:x}-{random.Next(4)}", [2], [s_anyone],
                CreateFlags.Ephemeral),
            3 => new DeleteOp($"{SimFrontEnd.Ephemerals}/{session.Id:x}-{random.Next(4)}", -1),
            4 or 5 => sequential,
            6 or 7 => new MultiOp([sequential, new SetDataOp(register, [3], random.Next(4))]),
            8 => new SetDataOp(register, BitConverter.GetBytes(session.Id), random.Chance(0.5) ? -1 : random.Next(6)),
            _ => new SetDataOp(register, [4], -1),
        };
    }

    private sealed record Session(long Id, UInt128 Hash);
}
