using Corfu.Protocol;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Disk;
using Corfu.Simulation.Kernel.Network;
using Craq;
using Craq.Storage;

namespace Corfu.Simulation.Craq;

/// <summary>A machine with a disk that runs a node of the object store. The disk outlives the processes.</summary>
internal sealed class SimCraqNode
{
    private readonly CraqCluster _cluster;

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

    public NodeId Id { get; }

    public string Datacenter { get; }

    public SimHost Host { get; }

    public SimDisk Disk { get; }

    public NodeLog Log { get; }

    public NodeAddress Address => new(Id, Host.Endpoint);

    public SimProcess? Process { get; private set; }

    /// <summary>Null while it reads its log back.</summary>
    public CraqNode? Node { get; private set; }

    public bool Running => Process is { Alive: true };

    public void Start()
    {
        if (Running) return;
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

    private async Task ServeAsync(SimProcess process)
    {
        var transport = new SimTransport(_cluster.World, _cluster.Network, _cluster.Internet, process, Name,
            _cluster.Plan.RequestTimeout);
        var store = new StoreWatch(new PlainNodeStore(Disk, process), Log);
        var node = await CraqNode.OpenAsync(Id, store, _cluster.Directory.Connect(process, Name), transport,
            process.Time, _cluster.NodeOptions);
        Node = node;
        Host.Listen(process, [node.Handler], OpenGate.Instance);
        var fault = await node.Fault;
        throw new InvalidOperationException($"{Name} failed", fault);
    }

    private sealed class OpenGate : IRequestGate
    {
        public static readonly OpenGate Instance = new();

        public Status Judge(Request request) => Status.Ok;
    }
}
