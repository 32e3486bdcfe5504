using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Workload;
using Corfu.Simulation.Workload.Objects;
using Tango;
using Tango.ZooKeeper;

namespace Corfu.Simulation.ZooKeeper;

/// <summary>A front end without its sockets: it hosts the tree, beats, and ends sessions that were silent, by what it
/// has seen.</summary>
internal sealed class SimFrontEnd : IApplyObserver
{
    public const string Ephemerals = "/e";
    public const string Sequences = "/s";

    private const int CheckpointEvery = 25;
    private const string TreeName = "zookeeper/main";

    private readonly ZooKeeperPlan _plan;
    private readonly ZooKeeperMonitor _monitor;
    private readonly SimRandom _random;
    private readonly string _name;
    private readonly HashSet<long> _heard = [];
    private Dictionary<long, Seen> _sessions = [];
    private Dictionary<long, Seen> _frontEnds = [];
    private TreeRoot? _root;
    private long _beat;

    private SimFrontEnd(SimClientNode node, ZooKeeperPlan plan, ZooKeeperMonitor monitor, SimRandom random)
    {
        (_plan, _monitor, _random, _name) = (plan, monitor, random, $"{node.Name} {node.Process!.Id}");
        Time = node.Process.Time;
    }

    public TimeProvider Time { get; }

    public long Id { get; private set; }

    public ZooKeeperTree Tree { get; private set; } = null!;

    /// <summary>Nodes that sessions set.</summary>
    public static IReadOnlyList<string> Registers { get; } = ["/d0", "/d1", "/d2"];

    public static async Task<SimFrontEnd> OpenAsync(
        SimClientNode node, ZooKeeperPlan plan, World world, ZooKeeperMonitor monitor)
    {
        SimRandom random = world.Random.Split($"front end {node.Name} {node.Process!.Id}");
        var frontEnd = new SimFrontEnd(node, plan, monitor, random);
        var options = new TangoOptions
        {
            MaxAppendsInFlight = 1,
            PublishEvery = 16,
            IdlePlayback = plan.BeatInterval / 2,
            Checkpoints = plan.Log.Checkpoints
                ? new CheckpointPolicy { Updates = CheckpointEvery, TrimsLog = false }
                : null,
        };
        var runtime = new TangoRuntime(node.Log!, node.OpenCursor, node.Process.Time, node.Entropy, options,
            new SimLogger(world, node.Name), TangoClient.LoopsHere());
        await frontEnd.PatientlyAsync(async () =>
        {
            frontEnd.Tree = await runtime.OpenAsync<ZooKeeperTree>(TreeName, OpenMode.Create);
            if ((await frontEnd.Tree.ReadAsync()).Level == 0)
            {
                await frontEnd.Tree.UpdateAsync(new BeginRecord(
                    random.NextUInt64(), TreeLevel.Newest, new TreeSettings()));
            }

            await runtime.ObserveAsync([frontEnd.Tree], frontEnd);
        });
        foreach (string path in (string[])[Ephemerals, Sequences, .. Registers])
        {
            var create = new CreateOp(path, [], [new AclEntry((Permissions)31, "world", "anyone")],
                CreateFlags.Persistent);
            await frontEnd.PatientlyAsync(async () => await frontEnd.Tree.UpdateAsync(
                new RequestRecord(new RequestHeader(0, 0, 0, 0, []), create)));
        }

        await frontEnd.UpAsync();
        return frontEnd;
    }

    /// <summary>From 1 to 2^61.</summary>
    public static long Draw(SimRandom random) => (long)(random.NextUInt64() >> 3) + 1;

    /// <summary>A client of the session was heard here.</summary>
    public void Hear(long session) => _heard.Add(session);

    /// <summary>Beats, and ends what was silent, until the workload is done.</summary>
    public async Task BeatAsync(Func<bool> isDone)
    {
        while (!isDone())
        {
            await Task.Delay(_plan.BeatInterval, Time);
            try
            {
                var result = await Tree.UpdateAsync(new BeatRecord(Id, ++_beat));
                if (result.Error == ZooKeeperError.Ok)
                {
                    await ExpireAsync();
                    continue;
                }

                _monitor.Mark("zookeeper front end taken for dead");
                await UpAsync();
            }
            catch (Exception e) when (IsExpected(e))
            {
                // The next number is above this one in any case.
                _monitor.Mark("zookeeper beat lost");
            }
        }
    }

    /// <summary>The newest state. Linearizable.</summary>
    public ValueTask<TreeRoot> ReadAsync() => Tree.ReadAsync();

    public static bool IsExpected(Exception e) => e is TangoInDoubtException || LogRefusal.Is(e);

    void IApplyObserver.OnReset(TangoObject handle, ObservedView view) => _root = ZooKeeperTree.RootIn(view);

    void IApplyObserver.OnApplied(TangoObject handle, RecordVersion version, object effect)
    {
        var applied = (TreeEffect)effect;
        _monitor.Applied(_name, _root!, applied);
        _root = applied.Root;
    }

    void IApplyObserver.OnPublished(LogPosition end)
    {
        if (_root is { } root) _monitor.Published(_name, root);
    }

    void IApplyObserver.OnStopped(TangoObject handle, Exception reason) =>
        _monitor.Found(CheckerNames.ZooKeeperViews, $"{_name}: the tree has stopped: {reason.Message}");

    private async Task UpAsync()
    {
        await PatientlyAsync(async () =>
        {
            Id = Draw(_random);
            _beat = 0;
            await Tree.UpdateAsync(new FrontEndUpRecord(Id, TreeLevel.Newest, _name));
        });
        _sessions.Clear();
        _frontEnds.Clear();
    }

    private async Task PatientlyAsync(Func<Task> work)
    {
        while (true)
        {
            try
            {
                await work();
                return;
            }
            catch (Exception e) when (IsExpected(e))
            {
                _monitor.Mark("zookeeper record sent again");
            }
        }
    }

    private async Task ExpireAsync()
    {
        TreeRoot root = _root!;
        var now = Time.GetTimestamp();
        foreach (FrontEnd silent in SilentFrontEnds(root, now))
            await Tree.UpdateAsync(new FrontEndDownRecord(silent.Id, silent.Beat));
        foreach (var group in SilentSessions(root, now).GroupBy(session => session.FrontEnd))
        {
            var record = new ExpireRecord(group.Key, root.FindFrontEnd(group.Key)?.Beat ?? 0,
                [.. group.Select(session => new ExpiredSession(session.Id, session.Attachment))]);
            _monitor.Sent(record);
            // The log is slow, and so may this process be.
            if (_random.Chance(_plan.LateExpiries)) await Task.Delay(_plan.Timeout * _random.NextDouble(), Time);
            await Tree.UpdateAsync(record);
        }
    }

    private List<FrontEnd> SilentFrontEnds(TreeRoot root, long now)
    {
        var others = root.AllFrontEnds.Where(row => !row.IsDown && row.Id != Id).ToList();
        _frontEnds = others.ToDictionary(row => row.Id, row => Next(_frontEnds, row.Id, 0, row.Beat, now));
        return [.. others.Where(row => Time.GetElapsedTime(_frontEnds[row.Id].Since, now) > 2 * _plan.Lease)];
    }

    private List<ZooKeeperSession> SilentSessions(TreeRoot root, long now)
    {
        var seen = new Dictionary<long, Seen>();
        var silent = new List<ZooKeeperSession>();
        foreach (ZooKeeperSession session in root.AllSessions())
        {
            bool isOwn = session.FrontEnd == Id;
            long beat = isOwn ? 0 : root.FindFrontEnd(session.FrontEnd)?.Beat ?? 0;
            Seen last = Next(_sessions, session.Id, session.Attachment, beat, now);
            if (isOwn && _heard.Contains(session.Id)) last = last with { Since = now };
            seen.Add(session.Id, last);
            TimeSpan margin = isOwn ? TimeSpan.Zero : _plan.Lease;
            if (Time.GetElapsedTime(last.Since, now) > TimeSpan.FromMilliseconds(session.Timeout) + margin)
                silent.Add(session);
        }

        _heard.Clear();
        _sessions = seen;
        return silent;
    }

    private static Seen Next(Dictionary<long, Seen> before, long id, int attachment, long beat, long now) =>
        before.TryGetValue(id, out Seen last) && last.Attachment == attachment && last.Beat == beat
            ? last
            : new Seen(attachment, beat, now);

    private readonly record struct Seen(int Attachment, long Beat, long Since);
}
