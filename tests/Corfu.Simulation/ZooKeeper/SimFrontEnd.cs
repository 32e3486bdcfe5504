using System.Net;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Workload;
using Corfu.Simulation.Workload.Objects;
using Corfu.ZooKeeper.Hosting;
using Corfu.ZooKeeper.Serving;
using Tango;
using Tango.ZooKeeper;

namespace Corfu.Simulation.ZooKeeper;

/// <summary>The product's front end in a process of the simulator, and acts of operators beside it: mounts, checkpoints
/// and trims.</summary>
internal sealed class SimFrontEnd
{
    public const string Ephemerals = "/e";
    public const string Sequences = "/s";

    /// <summary>Parent of what multis across partitions create in the root partition.</summary>
    public const string Marks = "/x";

    private const int CheckpointEvery = 25;
    private const double MountsAtBeat = 0.05;
    private const double TrimsAtBeat = 0.1;
    private const string Service = "main";

    private readonly SimClientNode _node;
    private readonly ZooKeeperPlan _plan;
    private readonly ZooKeeperMonitor _monitor;
    private readonly SimRandom _random;
    private readonly ToldTrims _trims;
    private TangoRuntime _runtime = null!;
    private ZooKeeperTree _tree = null!;
    private TreePartitions _partitions = null!;

    private SimFrontEnd(
        SimClientNode node, ZooKeeperPlan plan, World world, ZooKeeperMonitor monitor, ToldTrims trims)
    {
        (_node, _plan, _monitor, _trims) = (node, plan, monitor, trims);
        _random = world.Random.Split($"front end {node.Name} {node.Process!.Id}");
    }

    /// <summary>Nodes that sessions set.</summary>
    public static IReadOnlyList<string> Registers { get; } = ["/d0", "/d1", "/d2"];

    private TimeProvider Time => _node.Process!.Time;

    /// <summary>Opens the tree, without a front end yet.</summary>
    public static async Task<SimFrontEnd> OpenAsync(
        SimClientNode node, ZooKeeperPlan plan, World world, ZooKeeperMonitor monitor, ToldTrims trims)
    {
        var frontEnd = new SimFrontEnd(node, plan, world, monitor, trims);
        var options = new TangoOptions
        {
            MaxAppendsInFlight = 1,
            PublishEvery = 16,
            IdlePlayback = plan.BeatInterval / 2,
            Checkpoints = plan.Log.Checkpoints
                ? new CheckpointPolicy { Updates = CheckpointEvery, TrimsLog = false }
                : null,
        };
        frontEnd._runtime = new TangoRuntime(node.Log!, node.OpenCursor, node.Process!.Time, node.Entropy, options,
            new SimLogger(world, node.Name), TangoClient.LoopsHere());
        await frontEnd.PatientlyAsync(frontEnd.BeginAsync);
        return frontEnd;
    }

    /// <summary>Serves clients until the workload is done.</summary>
    public async Task ServeAsync(ZooNetwork network, Func<bool> isDone)
    {
        if (_random.Chance(0.5)) await PatientlyAsync(MountAsync);
        PortlessFrontEnd? frontEnd = null;
        await PatientlyAsync(async () =>
        {
            var next = new PortlessFrontEnd(_runtime, _tree, Options(), Environment(), Send);
            try
            {
                await next.StartAsync(default);
                frontEnd = next;
            }
            finally
            {
                if (frontEnd is null) await EndAsync(next);
            }
        });
        foreach (string path in (string[])[Ephemerals, Sequences, Marks, .. Registers])
        {
            var create = new CreateOp(path, [], [new AclEntry((Permissions)31, "world", "anyone")],
                CreateFlags.Persistent);
            await PatientlyAsync(async () => await _tree.UpdateAsync(
                new RequestRecord(new RequestHeader(0, 0, 0, 0, []), create)));
        }

        network.Listen(_node.Process!, frontEnd!.ServeAsync);
        while (!isDone())
        {
            await Task.Delay(_plan.BeatInterval, Time);
            if (_random.Chance(MountsAtBeat)) await TryAsync(MountAsync);
            if (_plan.Overtakes && _random.Chance(TrimsAtBeat)) await TryAsync(TrimAsync);
        }

        network.Close(_node.Process!);
        await EndAsync(frontEnd);
    }

    /// <summary>The last states of all partitions, by mount.</summary>
    public async Task<Dictionary<string, TreeRoot>> ReadAllAsync()
    {
        Dictionary<string, TreeRoot> roots = [], before = [];
        await PatientlyAsync(async () =>
        {
            await _partitions.RefreshAsync(await _tree.ReadAsync());
            await _partitions.HostAsync(_plan.Mounts);
            do
            {
                (before, roots) = (roots, []);
                foreach (var (mount, tree) in _partitions.Hosted) roots.Add(mount, await tree.ReadAsync());
            }
            while (roots.Any(pair => before.GetValueOrDefault(pair.Key) != pair.Value));
        });
        return roots;
    }

    private static async Task EndAsync(PortlessFrontEnd frontEnd)
    {
        await frontEnd.StopAsync();
        await frontEnd.DisposeAsync();
    }

    private async Task BeginAsync()
    {
        _tree = await _runtime.OpenAsync<ZooKeeperTree>(TreePartitions.NameOf(Service), OpenMode.Create);
        if ((await _tree.ReadAsync()).Level == 0)
            await _tree.UpdateAsync(new BeginRecord(_random.NextUInt64(), TreeLevel.Newest, new TreeSettings()));
        _partitions = TreePartitions.Of(_runtime, Service, _tree, Time);
        if (!_plan.Mounts.IsEmpty) await _runtime.Log.RaiseLevelAsync(RuntimeLog.KeyListLevel);
    }

    private ZooKeeperFrontEndOptions Options() => new(new IPEndPoint(IPAddress.Loopback, 0))
    {
        Service = Service,
        Host = [.. _plan.Mounts.Where(_ => _random.Chance(0.8))],
        Limits = new ZooKeeperLimits { MaxConnectionsPerAddress = 0 },
    };

    private FrontEndEnvironment Environment() => new(Time)
    {
        Loops = _node.Process!.Loops,
        Fill = _random.Fill,
        Times = new FrontEndTimes
        {
            Beat = _plan.BeatInterval,
            Lease = _plan.Lease,
            Look = _plan.BeatInterval / 4,
            ShortestTimeout = TimeSpan.FromMilliseconds(1),
            LongestTimeout = _plan.Timeout,
        },
        Observe = played => new ObservedPartitions(played, _monitor, $"{_node.Name} {_node.Process!.Id}"),
    };

    private void Send(FrontEndServices services, TreeRecord record)
    {
        if (record is ExpireRecord expire) _monitor.Sent(expire, isOwn: expire.FrontEnd == services.Identity.Id);
        else _monitor.Mark("zookeeper front end taken for dead");
        // The log is slow, and so may this process be.
        bool isLate = record is ExpireRecord && _random.Chance(_plan.LateExpiries);
        if (isLate) _node.Process!.Start("late expiry", LateAsync);
        else QuietPosts.Send(services, record);

        async Task LateAsync()
        {
            // Behind the next beat, or before it.
            TimeSpan most = _random.Chance(0.5) ? _plan.Timeout : _plan.BeatInterval;
            await Task.Delay(most * _random.NextDouble(), Time);
            QuietPosts.Send(services, record);
        }
    }

    // Another front end may have mounted the path, or another path, meanwhile.
    private async Task MountAsync()
    {
        TreeRoot root = await _tree.ReadAsync();
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

    // A front end that has not played so far loads its trees anew. A partition whose mount is not decided yet is an
    // object too: hosts decide by its history.
    private async Task TrimAsync()
    {
        LogPosition below = await _runtime.Checkpoints.WriteDirectoryAsync();
        foreach (DirectoryEntry entry in await _runtime.Directory.ListAsync())
            below = LogPosition.Min(below, await _runtime.Checkpoints.WriteAsync(entry.Name));
        await _trims.TrimAsync(_node, below, "zookeeper log trimmed");
    }

    private async Task TryAsync(Func<Task> work)
    {
        try
        {
            await work();
        }
        catch (Exception e) when (IsExpected(e))
        {
            _monitor.Mark("zookeeper operator gave up");
        }
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

    // Trims overtake trees that are opened, and checkpoints that are written.
    private bool IsExpected(Exception e) =>
        e is TangoInDoubtException || LogRefusal.Is(e) || _plan.Overtakes && e is TangoException;
}
