using System.Collections.Immutable;
using Corfu.Agent;
using Corfu.Conformance;
using Corfu.Protocol;
using Corfu.Simulation.Disk;
using Corfu.Simulation.Kernel.Disk;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Network;
using Corfu.Simulation.Workload;
using Corfu.Storage;
using Corfu.Transport;
using Corfu.Unit;

namespace Corfu.Simulation.Cluster;

/// <summary>A machine with a disk that runs one storage unit and perhaps one layout acceptor. The disk outlives the
/// processes.</summary>
public sealed class SimUnitNode
{
    private static readonly TimeSpan s_removalInterval = TimeSpan.FromMilliseconds(10);

    private readonly SimCluster _cluster;
    private readonly string _name;
    private int _disks;
    private PageStore? _store;

    // Durable: the newest epoch whose decided projection named the unit.
    private Epoch _named;

    public SimUnitNode(SimCluster cluster, string name, NodeEndpoint endpoint, NodeId unit, NodeId acceptor)
    {
        _cluster = cluster;
        _name = name;
        UnitId = unit;
        AcceptorId = acceptor;
        Host = cluster.AddHost(name, endpoint);
        // At most one disk misreads: elsewhere there is always a good copy.
        Disk = new SimDisk(cluster.World, name,
            cluster.Units.Count == 0 ? cluster.Plan.Disk : cluster.Plan.Disk with { Misread = 0 });
    }

    public SimHost Host { get; }

    public SimDisk Disk { get; }

    public NodeId UnitId { get; private set; }

    public NodeAddress Address => new(UnitId, Host.Endpoint);

    /// <summary>None where this machine has no acceptor.</summary>
    public NodeId AcceptorId { get; private set; }

    /// <summary>After its disk has failed, the time until it is started again.</summary>
    public long AwayAfterFailure { get; set; }

    /// <summary>Whether its disk has returned, or holds, what was not written.</summary>
    public bool IsDamaged => Disk.Misreads > 0 || Disk.Damages > 0;

    /// <summary>Whether it refuses pages for want of room. It looks once a second whether there is some
    /// again.</summary>
    public bool IsFull => Running && _store?.Health == UnitHealth.ReadOnly;

    public SimProcess? Process { get; private set; }

    public bool Running => Process is { Alive: true };

    public void Start()
    {
        if (Running) return;
        SimProcess process = Process = _cluster.NewProcess(_name);
        Disk.Serving = false;
        process.Start("start", () => ServeAsync(process));
    }

    /// <summary>Ends the process; with a power cut the machine's volatile disk cache goes too.</summary>
    public void Kill(bool powerCut)
    {
        if (!Running) return;
        Process!.Kill();
        if (powerCut) Disk.Crash();
    }

    /// <summary>The next flush of its log fails.</summary>
    public bool FailFlush(long away)
    {
        if (!Running || !Disk.FailNextFlush(SimSegmentFiles.Prefix)) return false;
        AwayAfterFailure = away;
        return true;
    }

    /// <summary>Takes nearly all the room that is left on the disk.</summary>
    public bool FillDisk(SimRandom random, long held)
    {
        if (!Disk.TakeSpace(random.Next(1 << 10))) return false;
        // A start needs a block of its own, and fails where there is none left.
        AwayAfterFailure = held;
        return true;
    }

    /// <summary>A page that every replica of its chain holds decays on its disk, for good.</summary>
    public bool DamagePage(SimRandom random) => Disk.Damage(
        SimSegmentFiles.Prefix,
        log => LogDamage.Choose(log, _cluster.Plan.Store.SegmentSize, random, _cluster.Monitor.IsHeldByAll));

    /// <summary>The machine stops and its disk is gone; started again it is formatted with these identities, which
    /// are new (R2, R12).</summary>
    public void LoseDisk(NodeId unit, NodeId acceptor)
    {
        Process?.Kill();
        Disk.Erase();
        AcceptorId = acceptor;
        Format(unit);
    }

    /// <summary>
    /// As a node does: a unit that decided projections name no more takes a new identity and an empty store, and is a
    /// spare again (R2). Its acceptor and its agent's memory stay.
    /// </summary>
    private async Task WatchForRemovalAsync(SimProcess process, ClusterAgent agent)
    {
        while (true)
        {
            await Task.Delay(s_removalInterval, process.Time);
            if (agent.Projection is not { } newest) continue;
            if (PlantedSwitch.IsOn("reformatted-before-the-decision"))
                newest = _cluster.Monitor.NewestProposed ?? newest;
            if (Removal.Names(newest, UnitId)) _named = newest.Epoch;
            else if (Removal.IsFinal(UnitId, LastNamed(newest), newest)) break;
        }

        _cluster.Monitor.Reformatted(UnitId);
        process.Kill();
        foreach (string file in Disk.Names(SimSegmentFiles.Prefix).Concat(Disk.Names(SimMapFiles.Prefix)))
            Disk.Delete(file);
        Format(new NodeId(_cluster.Entropy.NewGuid()));
        _cluster.World.Schedule(null, 0, SimEventKind.Control, Start);
    }

    // The unit's agent may have met the cluster only after the unit was removed. The layout's history tells then.
    private Epoch LastNamed(Projection newest) =>
        _named > Epoch.None ? _named : _cluster.Monitor.LastNamed(UnitId, newest.Epoch);

    private void Format(NodeId unit)
    {
        UnitId = unit;
        _named = Epoch.None;
        _cluster.Monitor.AddUnit(unit, $"{_name}.{++_disks}");
    }

    private async Task ServeAsync(SimProcess process)
    {
        try
        {
            UnitHandler handler = await OpenAsync(process);
            Disk.Serving = true;
            Exception fault = await handler.Fault;
            if (fault is not StoreFailedException { InnerException: IOException })
                throw new InvalidOperationException("the unit's store failed for no simulated reason", fault);
            _cluster.Monitor.Mark("unit stopped by its disk");
        }
        catch (Exception e) when (e is IOException or StoreFailedException { InnerException: IOException })
        {
            _cluster.Monitor.Mark("unit stopped by its disk while it started");
        }
        catch (LogDamagedException e)
        {
            // No simulated fault takes what a start needs.
            _cluster.Monitor.Found(CheckerNames.UnitDurable, $"{_name} refuses its log: {e.Message}");
            return;
        }

        // The unit answers that it has failed until the process is started again; what the page cache holds is not on
        // the disk.
        _cluster.World.Schedule(null, AwayAfterFailure, SimEventKind.Fault, () =>
        {
            if (Process != process || !Running) return;
            Kill(powerCut: true);
            Start();
        });
    }

    private async Task<UnitHandler> OpenAsync(SimProcess process)
    {
        var store = new PageStore(
            new SimSegmentFiles(Disk, process, () => _cluster.Monitor.Mark("segment cleaned")),
            (files, space, options) => new PlainRecordLog(files, space, options),
            new PlainAddressMaps<long, PageEntry>(new SimMapFiles(Disk, process)),
            new SimWorkers(process),
            UnitId,
            _cluster.Plan.Store);
        _store = store;
        UnitCore core = await UnitCore.OpenAsync(store, new UnitCoreOptions { Id = UnitId, Cluster = _cluster.Id });
        if (store.StartedFromCheckpoint) _cluster.Monitor.Mark("map checkpoint restored");
        var handler = new UnitHandler(UnitId, core, store);
        ImmutableArray<IRoleHandler> roles = [handler];
        if (!AcceptorId.IsNone) roles = roles.Add(await _cluster.OpenAcceptorAsync(process, Disk, AcceptorId));
        IRequestGate gate;
        if (_cluster.RunsAgent(this))
        {
            ClusterAgent agent = _cluster.StartAgent(process, Host);
            roles = roles.Add(agent);
            gate = agent.Gate;
            process.Start("watch for removal", () => WatchForRemovalAsync(process, agent));
        }
        else
        {
            NodeId unit = UnitId;
            gate = SimKeeper.Start(_cluster, process, Host, newest => newest.HasUnit(unit) ? core.Epoch : Epoch.None)
                .Gate;
        }

        Host.Listen(process, roles, gate);
        return handler;
    }
}
