using Corfu.Conformance;
using Corfu.Protocol;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Disk;
using Corfu.Simulation.Kernel.Network;
using Corfu.Storage;
using Salus.Coordination;
using Salus.Protocol;
using Salus.Store.Log;

namespace Corfu.Simulation.Salus;

/// <summary>A machine with a disk: a store, the region servers beside it, their lease and an agent, in one process. The
/// disk outlives the processes.</summary>
internal sealed class SimSalusMachine
{
    private readonly SalusCluster _cluster;
    private readonly StoreEye _eye;
    private readonly TimeSpan _skew;
    private StoreLog? _log;

    public SimSalusMachine(SalusCluster cluster, string name, NodeEndpoint endpoint, TimeSpan skew)
    {
        _cluster = cluster;
        _skew = skew;
        Name = name;
        Store = new StoreId(cluster.Entropy.NewGuid());
        Host = cluster.AddHost(name, endpoint);
        Disk = new SimDisk(cluster.World, name, cluster.Plan.Disk);
        cluster.Monitor.Add(this);
        _eye = new StoreEye(Disk, cluster.Plan.Store.SegmentSize, cluster.Monitor.VisitorOf(this));
    }

    public string Name { get; }

    /// <summary>A store that lost data gets another one (S26).</summary>
    public StoreId Store { get; private set; }

    public SimHost Host { get; }

    public SimDisk Disk { get; }

    public SimProcess? Process { get; private set; }

    /// <summary>More was done to the machine than a stop, a restart or a cut line: what it holds and says counts for
    /// nothing.</summary>
    public bool IsBad { get; private set; }

    /// <summary>Wrong behaviour of its region servers; null: none.</summary>
    public SalusFault? Sabotage { get; set; }

    /// <summary>The present incarnation of the machine's region servers.</summary>
    public Incarnation Incarnation { get; set; }

    /// <summary>After its disk has failed, the time until it is started again.</summary>
    public long AwayAfterFailure { get; set; }

    public bool Running => Process is { Alive: true };

    /// <summary>The store's log is damaged: it serves recoveries until an operator makes a new store.</summary>
    public bool IsSalvaged => _log is { State: StoreState.Salvaged };

    /// <summary>The process serves regions, or would.</summary>
    public bool IsServing { get; private set; }

    public void SetBad(SalusFault fault)
    {
        _cluster.World.Note($"{Name} is bad: {fault}");
        IsBad = true;
    }

    /// <summary>Learns what has become durable.</summary>
    public void Look()
    {
        if (Running && _log is { } log) _eye.Look(log);
    }

    public void Start()
    {
        if (Running) return;
        _log = null;
        IsServing = false;
        Process = _cluster.NewProcess(Name, _skew);
        Process.Start("start", () => ServeAsync(Process));
    }

    /// <summary>Ends the process; with a power cut the machine's volatile disk cache goes too.</summary>
    public void Kill(bool powerCut)
    {
        if (!Running) return;
        Look();
        Process!.Kill();
        IsServing = false;
        if (powerCut) Disk.Crash();
    }

    /// <summary>The machine gets a new disk and a new store.</summary>
    public void LoseDisk()
    {
        Kill(powerCut: false);
        Disk.Erase();
        Store = new StoreId(_cluster.Entropy.NewGuid());
        Disturbed();
        _cluster.Monitor.Stored(this);
    }

    /// <summary>The disk is not what it was.</summary>
    public void Disturbed()
    {
        _eye.Reset();
        _cluster.Monitor.Lost(Name);
    }

    /// <summary>The next flush of its log fails.</summary>
    public bool FailFlush(long away)
    {
        if (!Running || !Disk.FailNextFlush(SimSegmentFiles.Prefix)) return false;
        AwayAfterFailure = away;
        return true;
    }

    private async Task ServeAsync(SimProcess process)
    {
        var files = new SimRegionFiles(Disk, process, _cluster.Monitor.FilesOf(this));
        var log = new StoreLog(
            new SimSegmentFiles(Disk, process, () => _cluster.Monitor.Mark("segment deleted")),
            static (files, space, sizes) => new PlainRecordLog(files, space, sizes), new SimWorkers(process),
            new NodeId(Store.Value), _cluster.Plan.Store);
        try
        {
            await log.RecoverAsync();
            _log = log;
            if (log.State == StoreState.Salvaged) _cluster.Monitor.Mark("store salvaged");
            Disk.Serving = true;
            process.Start("node", () => new SimSalusNode(_cluster, this, process, log, files).RunAsync());
            await log.Fault;
            _cluster.Monitor.Mark("store stopped by its disk");
        }
        catch (Exception e) when (e is IOException or StoreFailedException)
        {
            _cluster.Monitor.Mark("store stopped by its disk while it started");
        }

        // Bytes in the page cache are not on the disk.
        _cluster.World.Schedule(null, AwayAfterFailure, SimEventKind.Fault, () =>
        {
            if (Process != process || !Running) return;
            Kill(powerCut: true);
            Start();
        });
    }
}
