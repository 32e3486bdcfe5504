using Corfu.Protocol;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Network;
using Salus;
using Tango;

namespace Corfu.Simulation.Salus;

/// <summary>A machine with a process that mounts one volume whenever it can.</summary>
internal sealed class SimVolumeWriter(SalusCluster cluster, int number, int volume, Func<SimVolumeWriter, Task> work)
{
    public string Name { get; } = $"writer{number}";

    public int Volume => volume;

    public SimProcess? Process { get; private set; }

    public SimTransport? Transport { get; private set; }

    public TangoRuntime? Runtime { get; private set; }

    public SalusClient? Client { get; private set; }

    public IVolumeSource? Source { get; private set; }

    public string VolumeName => cluster.Volumes[volume].Name;

    /// <summary>The process has a mounted volume, as far as it knows.</summary>
    public bool IsMounted { get; set; }

    public bool Running => Process is { Alive: true };

    public bool Finished { get; private set; }

    public void Start()
    {
        if (Running) return;
        Finished = false;
        IsMounted = false;
        var process = Process = cluster.NewProcess(Name);
        Transport = cluster.TransportOf(process, Name, AccessRole.Client);
        process.Start("work", async () =>
        {
            await OpenAsync(process);
            await work(this);
            Finished = true;
        });
    }

    public void Kill()
    {
        IsMounted = false;
        Process?.Kill();
    }

    private async Task OpenAsync(SimProcess process)
    {
        var entropy = new SimEntropy(cluster.World.Random.Split($"{Name} {process.Id}"));
        var runtime = Runtime = cluster.OpenRuntime(process, Name, entropy);
        var client = Client = await cluster.PatientlyAsync(process, () => SalusClient.OpenAsync(runtime, Transport!,
            cluster.ClientOptions, process.Time, entropy, process.Loops, new SimLogger(cluster.World, Name)));
        Source = await cluster.PatientlyAsync(process, async () =>
            (await client.FindAsync(VolumeName))!);
    }
}
