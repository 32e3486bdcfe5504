using Corfu.Client;
using Corfu.Protocol;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Network;
using Corfu.Simulation.Workload.Objects;

namespace Corfu.Simulation.Cluster;

/// <summary>A machine with one client process; started again it is another client incarnation with another writer id
/// (R9).</summary>
public sealed class SimClientNode(SimCluster cluster, int number, string name, Func<SimClientNode, Task>? work)
{
    public int Number => number;

    public string Name => name;

    public SimProcess? Process { get; private set; }

    public SimTransport? Transport { get; private set; }

    public SimEntropy Entropy { get; private set; } = null!;

    /// <summary>The client library of the running process.</summary>
    public ICorfuLog? Log { get; private set; }

    public Func<IStreamCursor> OpenCursor { get; private set; } = null!;

    /// <summary>The Tango objects of the running process, once they are open.</summary>
    public TangoClient? Tango { get; set; }

    /// <summary>Workloads have a client's, operators an admin's.</summary>
    public AccessRole Rights { get; init; } = number < 0 ? AccessRole.Admin : AccessRole.Client;

    /// <summary>100-nanosecond ticks.</summary>
    public long RequestTimeout { get; init; } = cluster.Plan.RequestTimeout;

    public bool Running => Process is { Alive: true };

    /// <summary>Whether the work of the running process has come to its end.</summary>
    public bool Finished { get; private set; }

    public void Start()
    {
        if (Running) return;
        Finished = false;
        Tango = null;
        SimProcess process = Process = cluster.NewProcess(name);
        Entropy = new SimEntropy(cluster.World.Random.Split($"{name} {process.Id}"));
        Transport = new SimTransport(cluster.World, cluster.Network, cluster.Internet, process, name,
            RequestTimeout, Rights);
        process.Start("work", async () =>
        {
            (Log, OpenCursor) = await cluster.ConnectAsync(this);
            if (work is not null) await work(this);
            Finished = true;
        });
    }

    public void Kill() => Process?.Kill();
}
