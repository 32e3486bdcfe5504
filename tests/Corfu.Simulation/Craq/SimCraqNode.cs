using Corfu.Conformance;
using Corfu.Protocol;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Disk;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Disk;
using Corfu.Simulation.Kernel.Network;
using Corfu.Storage;
using Corfu.Transport;
using Craq;
using Craq.Agent;
using Craq.Coordination;
using Craq.Storage;

namespace Corfu.Simulation.Craq;

/// <summary>A machine with a disk that runs a node of the object store. The disk outlives the processes.</summary>
internal sealed class SimCraqNode
{
    private readonly CraqCluster _cluster;
    private NodeStore? _store;
    private int _disks = 1;

    public SimCraqNode(CraqCluster cluster, string name, NodeEndpoint endpoint, NodeId id, string datacenter)
    {
        _cluster = cluster;
        Name = name;
        Id = id;
        Datacenter = datacenter;
        Host = cluster.AddHost(name, endpoint);
        Disk = new SimDisk(cluster.World, name, cluster.Plan.Disk);
        Log = cluster.Monitor.AddNode(id, name);
    }

    public string Name { get; }

    public NodeId Id { get; private set; }

    public string Datacenter { get; }

    public SimHost Host { get; }

    public SimDisk Disk { get; }

    public NodeLog Log { get; private set; }

    /// <summary>An operator keeps it down.</summary>
    public bool IsHeld { get; set; }

    public NodeAddress Address => new(Id, Host.Endpoint);

    public SimProcess? Process { get; private set; }

    /// <summary>After its disk has failed, the time until it is started again.</summary>
    public long AwayAfterFailure { get; set; }

    /// <summary>Null while it reads its log back.</summary>
    public CraqNode? Node { get; private set; }

    public bool Running => Process is { Alive: true };

    public void Start()
    {
        if (Running || IsHeld) return;
        Process = _cluster.NewProcess(Name);
        Node = null;
        _cluster.Monitor.Started(Id);
        Process.Start("start", () => ServeAsync(Process));
    }

    /// <summary>Ends the process; with a power cut the machine's volatile disk cache goes too.</summary>
    public void Kill(bool powerCut)
    {
        if (!Running) return;
        Process!.Kill();
        Node = null;
        if (powerCut) Disk.Crash();
    }

    /// <summary>The machine stops and its disk is gone.</summary>
    /// <param name="id">The identity from now on.</param>
    public void LoseDisk(NodeId id)
    {
        Kill(powerCut: false);
        Disk.Erase();
        Log.Erase();
        if (id == Id) return;
        Id = id;
        Log = _cluster.Monitor.AddNode(id, $"{Name}.{++_disks}");
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
        if (!Disk.TakeSpace(random.Next(1 << 14))) return false;
        // A start needs a block of its own, and fails where there is none left.
        AwayAfterFailure = held;
        return true;
    }

    /// <summary>Compares the clean objects of a full member with the chain as of the member's mark.</summary>
    public void CompareIndex(ChainTruth chain, string checker) => Node?.Handler.WithChain(chain.Id, (core, _) =>
    {
        if (!core.IsFull) return;
        var objects = chain.ObjectsOf(core.Mark);
        foreach (var key in _cluster.Keys)
        {
            var expected = objects.GetValueOrDefault(key).Version;
            _store!.TryFind(chain.Id, key, out var slot);
            if (slot?.Version == expected || (slot is null && expected.IsNone)) continue;
            _cluster.Monitor.Found(checker,
                $"{Name} has {key} at {slot?.Version} in its index, and as of its mark {core.Mark} it is at "
                + $"{expected}");
        }
    });

    /// <summary>Compares the values on the disk of a member with the chain, when nothing more is written.</summary>
    public async Task CompareValuesAsync(ChainTruth chain)
    {
        CompareIndex(chain, CheckerNames.ChainLog);
        foreach (var (key, (version, value)) in chain.ObjectsOf(chain.Committed))
        {
            if (!_store!.TryFind(chain.Id, key, out var found) || found is not { } slot) continue;
            var held = await _store.ReadAsync(slot, key);
            if (held is { } bytes && bytes.Span.SequenceEqual(value.Span)) continue;
            _cluster.Monitor.Found(CheckerNames.NodeDurable,
                $"{Name} has {held?.Length} other bytes as {key} {version}");
        }
    }

    private async Task ServeAsync(SimProcess process)
    {
        try
        {
            var node = await OpenAsync(process);
            Node = node;
            foreach (var chain in _cluster.Monitor.Chains) CompareIndex(chain, CheckerNames.NodeDurable);
            Host.Listen(process, [node.Handler], OpenGate.Instance);
            var fault = await node.Fault;
            if (fault is not (IOException or StoreFailedException { InnerException: IOException }))
                throw new InvalidOperationException($"{Name} failed for no simulated reason", fault);
            _cluster.Monitor.Mark("node stopped by its disk");
        }
        catch (Exception e) when (e is IOException or StoreFailedException { InnerException: IOException })
        {
            _cluster.Monitor.Mark("node stopped by its disk while it started");
        }
        catch (LogDamagedException e)
        {
            // No simulated fault takes what a start needs.
            _cluster.Monitor.Found(CheckerNames.NodeDurable, $"{Name} refuses its log: {e.Message}");
            return;
        }

        // The node answers that it has failed until the process is started again; what the page cache holds is not on
        // the disk.
        _cluster.World.Schedule(null, AwayAfterFailure, SimEventKind.Fault, () =>
        {
            if (Process != process || !Running) return;
            Kill(powerCut: true);
            Start();
        });
    }

    private async Task<CraqNode> OpenAsync(SimProcess process)
    {
        var store = _store = NodeStores.On(
            new SimSegmentFiles(Disk, process, () => _cluster.Monitor.Mark("segment cleaned")),
            static (files, space, sizes) => new PlainRecordLog(files, space, sizes),
            new PlainAddressMaps<ObjectHash, ObjectEntry>(new SimMapFiles(Disk, process)),
            new SimWorkers(process), Id, _cluster.Plan.Store);
        var watch = new StoreWatch(store, Log);
        ITransport transport = new SimTransport(_cluster.World, _cluster.Network, _cluster.Internet, process, Name,
            _cluster.Plan.RequestTimeout);
        if (_cluster.Plan.Has(CraqFault.LateCopies)) transport = new LateCopies(_cluster, process, transport);
        var logger = new SimLogger(_cluster.World, Name);
        var directory = new LogDirectory(_ => Task.FromResult(_cluster.OpenLog(process, Name)), process.Time,
            process.Loops, logger);
        var node = await CraqNode.OpenAsync(Id, watch, directory, transport, process.Time, _cluster.NodeOptions);
        if (_cluster.Plan.HasAgents)
        {
            NodeAgent.Attach(node.Handler, watch,
                new NodeAgentParts(directory, directory, transport, _cluster.NodeOptions, _cluster.AgentOptions),
                process.Time, process.Loops, logger);
        }

        directory.Start(new DirectoryNode(Id, Datacenter, Host.Endpoint, DirectoryNodeState.Active),
            TimeSpan.FromTicks(_cluster.Plan.LeaseTime));
        if (store.StartedFromCheckpoint) _cluster.Monitor.Mark("index checkpoint restored");
        return node;
    }

    private sealed class OpenGate : IRequestGate
    {
        public static readonly OpenGate Instance = new();

        public Status Judge(Request request) => Status.Ok;
    }
}
