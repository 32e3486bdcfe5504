using Corfu.Protocol;
using Corfu.Simulation.Disk;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Network;
using Corfu.Simulation.Workload;
using Corfu.Transport;

namespace Corfu.Simulation.Cluster;

/// <summary>The machines of one run and everything that connects them.</summary>
public sealed partial class SimCluster
{
    /// <summary>The requests of every role.</summary>
    public static readonly RequestTable Requests = new(
        UnitMessages.AddTo, SequencerMessages.AddTo, LayoutMessages.AddTo, AgentMessages.AddTo);

    private readonly List<SimProcess> _processes = [];
    private readonly List<string> _hostNames = [];
    private readonly List<SimHost> _servers = [];
    private readonly SimRandom _skew;
    private int _nextProcess = 1;

    public SimCluster(World world, SeedPlan plan, ClusterMonitor monitor)
    {
        World = world;
        Plan = plan;
        Monitor = monitor;
        monitor.MayBeCorrupt = id => Units.Exists(u => u.UnitId == id && u.IsDamaged);
        if (plan.Agents is { CutsOffRebuilder: true }) monitor.Decided = CutOffRebuilder;
        monitor.ShortestFillWait = ClientOptions.HoleWait.Ticks;
        Entropy = new SimEntropy(world.Random.Split("identities"));
        Id = new ClusterId(Entropy.NewGuid());
        Network = new SimNetwork(world, new NetworkOptions()) { Version = WireProtocol.Version3 };
        Internet = new SimInternet(world);
        _skew = world.Random.Split("skew");
    }

    public World World { get; }

    public SeedPlan Plan { get; }

    public ClusterMonitor Monitor { get; }

    public SimEntropy Entropy { get; }

    public ClusterId Id { get; }

    public SimNetwork Network { get; }

    public SimInternet Internet { get; }

    public List<SimUnitNode> Units { get; } = [];

    public List<SimClientNode> Clients { get; } = [];

    /// <summary>Processes whose wall clock differed from the others'.</summary>
    public int SkewedProcesses { get; private set; }

    public IReadOnlyList<string> HostNames => _hostNames;

    public IReadOnlyList<SimHost> Servers => _servers;

    public IReadOnlyList<SimProcess> Processes() => [.. _processes.Where(p => p.Alive)];

    public SimProcess NewProcess(string name)
    {
        TimeSpan skew = Plan.MaxClockSkew == 0
            ? TimeSpan.Zero
            : TimeSpan.FromTicks(_skew.Between(-Plan.MaxClockSkew, Plan.MaxClockSkew));
        if (skew != TimeSpan.Zero) SkewedProcesses++;
        var process = new SimProcess(World, _nextProcess++, name, skew);
        _processes.RemoveAll(p => !p.Alive);
        _processes.Add(process);
        return process;
    }

    public SimHost AddHost(string name, NodeEndpoint endpoint)
    {
        var host = new SimHost(World, Network, Monitor, Requests, Id, endpoint, name);
        Internet.Add(host);
        _hostNames.Add(name);
        _servers.Add(host);
        return host;
    }

    /// <param name="leastTimeout">The plan's request time-out is raised to this, in ticks.</param>
    public SimClientNode AddClient(int number, Func<SimClientNode, Task> work, long leastTimeout = 0)
    {
        string name = $"client{number}";
        _hostNames.Add(name);
        var client = new SimClientNode(this, number, name, work)
        {
            RequestTimeout = Math.Max(Plan.RequestTimeout, leastTimeout),
        };
        Clients.Add(client);
        return client;
    }

    /// <summary>Ends all faults: every machine runs, every link works, disks and network are calm.</summary>
    public void Heal()
    {
        Network.HealAll();
        if (_cutOff is { } cutOff) Network.Block(Units[0].Host.Name, cutOff.Host.Name);
        Network.Options = new NetworkOptions();
        foreach (SimProcess process in _processes) process.Resume();
        foreach (SimUnitNode unit in Units)
        {
            unit.Host.Denies = static (_, _) => false;
            unit.Disk.Heal();
            unit.Start();
        }

        foreach (SimClientNode client in Clients) client.Start();
        if (HasAgents) _sequencers.ForEach(StartIfDown);
        EnsureSequencer();
        EnsureRebuilt();
    }
}
