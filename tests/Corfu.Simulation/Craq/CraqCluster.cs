using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Network;
using Craq;
using Craq.Agent;
using Craq.Coordination;
using Craq.Protocol;
using ObjectKey = Craq.ObjectKey;
using TangoOptions = Tango.TangoOptions;
using TangoRuntime = Tango.TangoRuntime;

namespace Corfu.Simulation.Craq;

/// <summary>The machines of a run of the object store.</summary>
internal sealed class CraqCluster
{
    private const int Port = 7000;

    public static readonly RequestTable Requests = new(CraqMessages.AddTo);

    private readonly List<SimProcess> _processes = [];
    private int _nextProcess = 1;

    public CraqCluster(World world, CraqPlan plan)
    {
        World = world;
        Plan = plan;
        Monitor = new CraqMonitor(world, Requests)
        {
            ProvenAt = (id, chain) => Nodes.Find(node => node.Id == id)?.Node?.Handler
                .Look(chain, static core => core.ConfirmedByOthersAt),
        };
        Log = new SimLog(world, plan.LogLatency);
        Truth = new DirectoryTruth(world, Log, Monitor) { EpochOpened = CompareMembers };
        Entropy = new SimEntropy(world.Random.Split("identities"));
        Id = new ClusterId(Entropy.NewGuid());
        Network = new SimNetwork(world, new NetworkOptions()) { Version = WireProtocol.Version2 };
        Internet = new SimInternet(world);
        Operator = new CraqOperator(this);
        for (var i = 0; i < plan.Nodes; i++)
        {
            Nodes.Add(new SimCraqNode(this, $"node{i}", new NodeEndpoint($"node{i}", Port),
                new NodeId(Entropy.NewGuid()), "dc"));
        }
    }

    public World World { get; }

    public CraqPlan Plan { get; }

    public CraqMonitor Monitor { get; }

    public SimLog Log { get; }

    public DirectoryTruth Truth { get; }

    public CraqOperator Operator { get; }

    public SimEntropy Entropy { get; }

    public ClusterId Id { get; }

    public SimNetwork Network { get; }

    public SimInternet Internet { get; }

    public List<SimCraqNode> Nodes { get; } = [];

    public List<SimCraqClient> Clients { get; } = [];

    public List<string> HostNames { get; } = [];

    /// <summary>The chains by their names.</summary>
    public ImmutableArray<string> ChainNames { get; private set; } = [];

    /// <summary>All objects that clients write, in each chain.</summary>
    public ImmutableArray<ObjectKey> Keys => [.. Enumerable.Range(0, Plan.Keys)
        .SelectMany(i => new[] { $"r{i}", $"n{i}", $"l{i}" }).Select(key => new ObjectKey(key))];

    public CraqNodeOptions NodeOptions => new()
    {
        WindowRecords = Plan.WindowRecords,
        MaxWindowIds = Plan.WindowIds,
        MaxHotBytes = Plan.HotBytes,
        // A record and a chain's state fit into a page of the log.
        MaxRecord = Plan.Store.LogPageSize / 2,
        MaxWindowState = Plan.Store.LogPageSize / 4,
        MaxLockBytes = Plan.Store.LogPageSize / 4,
        LockLimit = TimeSpan.FromTicks(Plan.LockLimit),
        VoteLimit = TimeSpan.FromTicks(Plan.LockLimit),
        SettleLimit = TimeSpan.FromTicks(3 * Plan.LockLimit),
        DecisionInterval = TimeSpan.FromTicks(3 * Plan.LockLimit),
        ExpiryInterval = TimeSpan.FromTicks(Plan.Sweep),
        RelayFrom = Plan.RelayFrom,
        MaxRelayBytes = Plan.RelayBytes,
    };

    public CraqAgentOptions AgentOptions => Plan.AgentOptions();

    public IReadOnlyList<SimProcess> Processes() => [.. _processes.Where(p => p.Alive)];

    public SimHost AddHost(string name, NodeEndpoint endpoint)
    {
        var host = new SimHost(World, Network, Monitor, Requests, Id, endpoint, name);
        Internet.Add(host);
        HostNames.Add(name);
        return host;
    }

    public SimProcess NewProcess(string name)
    {
        var process = new SimProcess(World, _nextProcess++, name);
        _processes.RemoveAll(p => !p.Alive);
        _processes.Add(process);
        return process;
    }

    public void AddClient(Func<SimCraqClient, Task> work)
    {
        var client = new SimCraqClient(this, Clients.Count, work);
        HostNames.Add(client.Name);
        Clients.Add(client);
    }

    public LogSession OpenLog(SimProcess process, string machine)
    {
        var log = Log.Connect(process, machine);
        var entropy = new SimEntropy(World.Random.Split($"log of {machine} {process.Id}"));
        var options = new TangoOptions { WaitInterval = TimeSpan.FromTicks(Plan.Follow) };
        return new LogSession(new TangoRuntime(log, () => new StreamCursor(log), process.Time, entropy, options,
            loops: process.Loops), null);
    }

    /// <summary>Starts the nodes and records the chains, before any fault.</summary>
    /// <returns>Null once all chains are open; otherwise the step that did not end.</returns>
    public string? Boot()
    {
        Truth.Start();
        if (!Ends(() => Truth.IsOpen)) return "the log was not opened";
        Operator.Start();
        foreach (var node in Nodes) node.Start();
        if (!Ends(() => Operator.IsReady && Truth.View.Nodes.Count == Plan.Nodes
            && Nodes.TrueForAll(node => node.Node is not null)))
            return "nodes did not register";
        ChainNames = [.. Enumerable.Range(0, Plan.Chains).Select(i => $"chain{i}")];
        var placement = new Placement([], 1, Plan.Length, MinMembers: Plan.MinMembers);
        foreach (var name in ChainNames) Operator.Create(name, placement, Plan.Options);
        if (!Ends(() => Truth.View.Chains.Count == Plan.Chains
            && Monitor.Chains.All(chain => chain.IsOpen(Epoch.First))))
            return "chains did not open";
        Network.Options = Plan.Network;
        Network.Lose(static request => request is ValuesRequest or MarkedRequest, Plan.RelayLoss);
        return null;
    }

    /// <summary>Ends all faults.</summary>
    public void Heal()
    {
        Network.HealAll();
        Network.Options = new NetworkOptions();
        Log.RestoreAll();
        foreach (var process in _processes) process.Resume();
        foreach (var node in Nodes)
        {
            node.Disk.Heal();
            node.Start();
        }

        foreach (var client in Clients)
        {
            client.Free();
            client.Start();
        }
    }

    // A full member of an open epoch has the clean state (C11).
    private void CompareMembers(ChainTruth chain)
    {
        foreach (var node in Nodes.Where(node => chain.Newest!.IndexOf(node.Id) >= 0))
            node.CompareIndex(chain, CheckerNames.Learn);
    }

    private bool Ends(Func<bool> done) =>
        Pump.Run(World, done, World.Now + (60 * TimeSpan.TicksPerSecond), World.Steps + 1_000_000) == Pump.Ending.Done;
}
