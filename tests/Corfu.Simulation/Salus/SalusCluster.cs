using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Network;
using Salus;
using Salus.Coordination;
using Salus.Protocol;
using Salus.Region;
using Salus.Region.Recovery;
using Salus.Region.Scrub;
using Tango;

namespace Corfu.Simulation.Salus;

/// <summary>The machines of a run of the block store.</summary>
internal sealed class SalusCluster
{
    private const int Port = 7000;

    // Members of a region.
    private const int Copies = 3;

    public static readonly RequestTable Requests = new(SalusMessages.AddTo);

    private readonly List<SimProcess> _processes = [];
    private int _nextProcess = 1;

    public SalusCluster(World world, SalusPlan plan)
    {
        World = world;
        Plan = plan;
        Log = new SimLog(world, plan.LogLatency);
        Truth = new SalusTruth(world, Log);
        Monitor = new SalusMonitor(world, Truth);
        Monitor.Follow();
        Entropy = new SimEntropy(world.Random.Split("identities"));
        Id = new ClusterId(Entropy.NewGuid());
        Network = new SimNetwork(world, new NetworkOptions()) { Version = WireProtocol.Version2, Calls = Monitor };
        Internet = new SimInternet(world);
        var skews = world.Random.Split("skews");
        for (var i = 0; i < plan.Machines; i++)
        {
            var skew = plan.Has(SalusFault.ClockSkew) ? skews.Between(-10_000L, 10_000) : 0;
            Machines.Add(new SimSalusMachine(this, $"node{i}", new NodeEndpoint($"node{i}", Port),
                TimeSpan.FromMilliseconds(skew)));
        }
    }

    public World World { get; }

    public SalusPlan Plan { get; }

    public SimLog Log { get; }

    public SalusTruth Truth { get; }

    public SalusMonitor Monitor { get; }

    public SimEntropy Entropy { get; }

    public ClusterId Id { get; }

    public SimNetwork Network { get; }

    public SimInternet Internet { get; }

    public List<SimSalusMachine> Machines { get; } = [];

    public List<SimVolumeWriter> Writers { get; } = [];

    public SimOperator Operator => field ??= new SimOperator(this);

    public List<string> HostNames { get; } = [];

    public ImmutableArray<(string Name, VolumeId Id)> Volumes { get; private set; } = [];

    public SalusAgentOptions AgentOptions
    {
        get
        {
            var shipped = new SalusAgentOptions();
            return shipped with
            {
                TimeToLive = Plan.At(shipped.TimeToLive),
                Interval = Plan.At(shipped.Interval),
                ChangePause = Plan.At(shipped.ChangePause),
                StallWindow = Plan.At(shipped.StallWindow),
                AccusedFor = Plan.At(shipped.AccusedFor),
                SealLimit = Plan.At(shipped.SealLimit),
                OpenLimit = Plan.At(shipped.OpenLimit),
                ProbeLimit = Plan.At(shipped.ProbeLimit),
                Retry = Plan.At(shipped.Retry),
            };
        }
    }

    public RegionServerOptions ServerOptions
    {
        get
        {
            var shipped = new RegionServerOptions();
            return shipped with
            {
                Patience = Plan.At(shipped.Patience),
                SpaceMargin = 64 << 10,
                LogBytes = Plan.Store.LogLimit / 2,
            };
        }
    }

    public RecoveryOptions RecoveryOptions
    {
        get
        {
            var shipped = new RecoveryOptions();
            return shipped with
            {
                Patience = Plan.At(shipped.Patience),
                GonePatience = Plan.At(shipped.GonePatience),
                LongPatience = Plan.At(shipped.LongPatience),
                CallLimit = Plan.At(shipped.CallLimit),
                Pause = Plan.At(shipped.Pause),
            };
        }
    }

    // Rounds follow one another faster than the shipped ones: a seed is short.
    public ScrubOptions ScrubOptions => new()
    {
        Pause = Plan.At(TimeSpan.FromSeconds(10)),
        CallLimit = Plan.At(new ScrubOptions().CallLimit),
    };

    public SalusClientOptions ClientOptions
    {
        get
        {
            var shipped = SalusClientOptions.Default;
            return shipped with
            {
                Lease = Plan.At(shipped.Lease),
                Patience = Plan.Has(SalusFault.LoseTailAlive) ? Plan.At(shipped.Patience) : shipped.Patience,
                ReadPatience = Plan.At(shipped.ReadPatience),
                StallTime = Plan.At(shipped.StallTime),
                NoteInterval = Plan.At(shipped.NoteInterval),
                Window = Plan.Window,
                Acknowledgement = Plan.IsOrdered ? Acknowledgement.Ordered : Acknowledgement.Committed,
            };
        }
    }

    public IReadOnlyList<SimProcess> Processes() => [.. _processes.Where(process => process.Alive)];

    public SimHost AddHost(string name, NodeEndpoint endpoint)
    {
        var host = new SimHost(World, Network, Monitor, Requests, Id, endpoint, name);
        Internet.Add(host);
        HostNames.Add(name);
        return host;
    }

    public SimProcess NewProcess(string name, TimeSpan skew = default)
    {
        var process = new SimProcess(World, _nextProcess++, name, skew);
        _processes.RemoveAll(known => !known.Alive);
        _processes.Add(process);
        return process;
    }

    public SimTransport TransportOf(SimProcess process, string machine, AccessRole rights = AccessRole.Node) =>
        new(World, Network, Internet, process, machine, Plan.RequestTimeout, rights);

    public TangoRuntime OpenRuntime(SimProcess process, string machine, IEntropy entropy)
    {
        var log = Log.Connect(process, machine);
        return new TangoRuntime(log, () => new StreamCursor(log), process.Time, entropy, loops: process.Loops);
    }

    /// <summary>Repeats a call until the log is reached.</summary>
    public async Task<T> PatientlyAsync<T>(SimProcess process, Func<ValueTask<T>> call)
    {
        while (true)
        {
            try
            {
                return await call();
            }
            catch (Exception e) when (e is LogUnavailableException or TangoException or VolumeException)
            {
                Monitor.Mark("opening failed");
                await Task.Delay(TimeSpan.FromMilliseconds(20), process.Time);
            }
        }
    }

    public void AddWriter(int volume, Func<SimVolumeWriter, Task> work)
    {
        var writer = new SimVolumeWriter(this, Writers.Count, volume, work);
        HostNames.Add(writer.Name);
        Writers.Add(writer);
    }

    /// <summary>Starts the nodes and makes the volumes, before any fault.</summary>
    public void Boot()
    {
        Truth.Start();
        Run("the log was not opened", () => Truth.IsOpen);
        foreach (var machine in Machines) machine.Start();
        Run("nodes did not register", () => Truth.Nodes.Stores.Count == Plan.Machines);
        var names = ImmutableArray.CreateBuilder<(string, VolumeId)>();
        for (var i = 0; i < Plan.Volumes; i++)
        {
            var id = new VolumeId(Entropy.NewGuid());
            names.Add(($"volume{i}", id));
            Truth.Create(names[i].Item1, id, Plan.Geometry);
        }

        Volumes = names.ToImmutable();
        Run("volumes were not placed", () => Volumes.All(volume => Truth.IsReady(volume.Name)));
        Network.Options = Plan.Network;
    }

    /// <summary>Ends all faults but those that last.</summary>
    public void Heal()
    {
        Network.HealAll();
        Network.Options = new NetworkOptions();
        Log.RestoreAll();
        foreach (var process in _processes) process.Resume();
        foreach (var machine in Machines)
        {
            machine.Disk.Heal();
            machine.Start();
        }

        // Stores that lost what they had said host no member (S26): where all may have, an operator brings others.
        for (var i = 0; i < Copies && Plan.MayLose; i++)
        {
            var spare = new SimSalusMachine(this, $"spare{i}", new NodeEndpoint($"spare{i}", Port), TimeSpan.Zero);
            Machines.Add(spare);
            spare.Start();
        }

        foreach (var writer in Writers) writer.Start();
    }

    private void Run(string what, Func<bool> done)
    {
        if (Pump.Run(World, done, World.Now + (60 * TimeSpan.TicksPerSecond), World.Steps + 1_000_000)
            != Pump.Ending.Done)
            throw new InvalidOperationException($"{what}: {string.Join("; ", World.Failures)}");
    }
}
