using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Workload;
using Corfu.Simulation.Workload.Objects;
using Tango;
using Tango.ZooKeeper;

namespace Corfu.Simulation.ZooKeeper;

/// <summary>A front end without its sockets: it hosts partitions of the tree, mounts some, beats, and ends sessions
/// that were silent, by what it has seen.</summary>
internal sealed class SimFrontEnd : IApplyObserver
{
    public const string Ephemerals = "/e";
    public const string Sequences = "/s";

    /// <summary>Parent of what multis across partitions create in the root partition.</summary>
    public const string Marks = "/x";

    private const int CheckpointEvery = 25;
    private const double MountsAtBeat = 0.05;
    private const string Service = "main";

    private readonly ZooKeeperPlan _plan;
    private readonly ZooKeeperMonitor _monitor;
    private readonly SimRandom _random;
    private readonly string _name;
    private readonly HashSet<long> _heard = [];
    private Dictionary<long, Seen> _sessions = [];
    private Dictionary<long, Seen> _frontEnds = [];
    private readonly Dictionary<string, TreeRoot> _roots = [];
    private readonly Dictionary<long, TreeResult?> _shared = [];
    private TreePartitions _partitions = null!;
    private long _played;
    private long _beat;

    private SimFrontEnd(SimClientNode node, ZooKeeperPlan plan, ZooKeeperMonitor monitor, SimRandom random)
    {
        (_plan, _monitor, _random, _name) = (plan, monitor, random, $"{node.Name} {node.Process!.Id}");
        Time = node.Process.Time;
    }

    public TimeProvider Time { get; }

    public long Id { get; private set; }

    /// <summary>The root partition.</summary>
    public ZooKeeperTree Tree { get; private set; } = null!;

    /// <summary>Mounts of the partitions that are played here; the root partition's first.</summary>
    public IReadOnlyList<string> Hosted { get; private set; } = [];

    /// <summary>Nodes that sessions set.</summary>
    public static IReadOnlyList<string> Registers { get; } = ["/d0", "/d1", "/d2"];

    /// <param name="hostsAll">Play all partitions; else those that the front end draws.</param>
    public static async Task<SimFrontEnd> OpenAsync(
        SimClientNode node, ZooKeeperPlan plan, World world, ZooKeeperMonitor monitor, bool hostsAll = false)
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
            frontEnd.Tree = await runtime.OpenAsync<ZooKeeperTree>(
                TreePartitions.NameOf(Service), OpenMode.Create);
            if ((await frontEnd.Tree.ReadAsync()).Level == 0)
            {
                await frontEnd.Tree.UpdateAsync(new BeginRecord(
                    random.NextUInt64(), TreeLevel.Newest, new TreeSettings()));
            }

            frontEnd._partitions = TreePartitions.Of(runtime, Service, frontEnd.Tree, node.Process.Time);
            if (!plan.Mounts.IsEmpty) await runtime.Log.RaiseLevelAsync(RuntimeLog.KeyListLevel);
        });
        if (!hostsAll && random.Chance(0.5)) await frontEnd.PatientlyAsync(frontEnd.MountAsync);
        await frontEnd.PatientlyAsync(async () =>
        {
            await frontEnd.RefreshAsync();
            await frontEnd._partitions.HostAsync(plan.Mounts.Where(_ => hostsAll || random.Chance(0.8)));
            await runtime.ObserveAsync([.. frontEnd._partitions.Hosted.Select(pair => pair.Value)], frontEnd);
            frontEnd.Hosted = [.. frontEnd._partitions.Hosted.Select(pair => pair.Key)];
        });
        foreach (string path in (string[])[Ephemerals, Sequences, Marks, .. Registers])
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
                if (_random.Chance(MountsAtBeat)) await MountAsync();
                var result = await ShareAsync(new BeatRecord(Id, ++_beat));
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

    /// <summary>The newest states of all partitions that are played here, by mount. Linearizable.</summary>
    public async Task<Dictionary<string, TreeRoot>> ReadAsync()
    {
        var roots = new Dictionary<string, TreeRoot>();
        foreach (var (mount, tree) in _partitions.Hosted) roots.Add(mount, await tree.ReadAsync());
        return roots;
    }

    /// <summary>Sends a request of a partition that is played here.</summary>
    public async Task<TreeResult> UpdateAsync(RequestRecord record)
    {
        if (record.Op is CloseSessionOp) return await ShareAsync(record);
        var mounts = TreePartitions.PartitionsOf(_roots[NodePath.Root], record.Op);
        return await _partitions.ToWrite(mounts.Single()).UpdateAsync(record);
    }

    /// <summary>Sends a record that concerns all partitions (Z13).</summary>
    public async Task<TreeResult> ShareAsync(TreeRecord record)
    {
        while (true)
        {
            TreeResult? result;
            if (_partitions.MountCount == 0)
            {
                result = await Tree.UpdateAsync(record);
            }
            else
            {
                long ticket = Draw(_random);
                _shared.Add(ticket, null);
                try
                {
                    await _partitions.AppendAsync(record, ticket);
                    await Tree.ReadAsync();
                    // A tree that was loaded anew has missed the effect.
                    result = _shared[ticket] ?? throw new MissedException();
                }
                finally
                {
                    _shared.Remove(ticket);
                }
            }

            if (result.Error != ZooKeeperError.OperationTimeout) return result;
            _monitor.Mark("zookeeper record lost to a mount");
            await RefreshAsync();
        }
    }

    /// <summary>Sends a multi of several partitions, which are played here.</summary>
    /// <param name="isOnce">Give it up where another write comes between.</param>
    public async Task<CrossResult> DecideAsync(RequestRecord record, bool isOnce)
    {
        await RefreshAsync();
        return await _partitions.DecideAsync(record.Header, (MultiOp)record.Op, isOnce ? TimeSpan.Zero : _plan.Timeout);
    }

    public static bool IsExpected(Exception e) =>
        e is TangoInDoubtException or MissedException || LogRefusal.Is(e);

    void IApplyObserver.OnReset(TangoObject handle, ObservedView view)
    {
        TreeRoot root = ZooKeeperTree.RootIn(view);
        _roots[root.Home] = root;
    }

    void IApplyObserver.OnApplied(TangoObject handle, RecordVersion version, object effect)
    {
        var applied = (TreeEffect)effect;
        string home = applied.Root.Home;
        if (applied.Zxid < _played)
            _monitor.Found(CheckerNames.ZooKeeperZxid, $"{_name}: {applied.Zxid:x} of {home} behind {_played:x}");
        _played = applied.Zxid;
        _monitor.Applied($"{_name} {home}", _roots[home], applied);
        _roots[home] = applied.Root;
        if (home == NodePath.Root && _shared.ContainsKey(applied.Ticket)) _shared[applied.Ticket] = applied.Result;
    }

    void IApplyObserver.OnPublished(LogPosition end)
    {
        foreach (TreeRoot root in _roots.Values) _monitor.Published(_name, root);
    }

    void IApplyObserver.OnStopped(TangoObject handle, Exception reason) =>
        _monitor.Found(CheckerNames.ZooKeeperViews, $"{_name}: the tree has stopped: {reason.Message}");

    private async Task UpAsync()
    {
        await PatientlyAsync(async () =>
        {
            Id = Draw(_random);
            _beat = 0;
            await ShareAsync(new FrontEndUpRecord(Id, TreeLevel.Newest, _name));
        });
        _sessions.Clear();
        _frontEnds.Clear();
    }

    // Another front end may have mounted the path, or another path, meanwhile.
    private async Task MountAsync()
    {
        TreeRoot root = await Tree.ReadAsync();
        if (_plan.Mounts.FirstOrDefault(path => root.Mounts.All(mount => mount.Path != path)) is not { } next) return;
        try
        {
            await _partitions.MountAsync(next, _random.NextUInt64());
            _monitor.Mark("zookeeper path mounted");
        }
        catch (ZooKeeperMountException)
        {
            _monitor.Mark("zookeeper mount refused");
        }
    }

    private async Task RefreshAsync() => await _partitions.RefreshAsync(await Tree.ReadAsync());

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
        TreeRoot root = _roots[NodePath.Root];
        var now = Time.GetTimestamp();
        foreach (FrontEnd silent in SilentFrontEnds(root, now))
            await ShareAsync(new FrontEndDownRecord(silent.Id, silent.Beat));
        foreach (var group in SilentSessions(root, now).GroupBy(session => session.FrontEnd))
        {
            var record = new ExpireRecord(group.Key, root.FindFrontEnd(group.Key)?.Beat ?? 0,
                [.. group.Select(session => new ExpiredSession(session.Id, session.Attachment))]);
            _monitor.Sent(record);
            // The log is slow, and so may this process be.
            if (_random.Chance(_plan.LateExpiries)) await Task.Delay(_plan.Timeout * _random.NextDouble(), Time);
            await ShareAsync(record);
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

    /// <summary>A record is in the log, and what it came to was not heard.</summary>
    private sealed class MissedException : Exception;

    private readonly record struct Seen(int Attachment, long Beat, long Since);
}
