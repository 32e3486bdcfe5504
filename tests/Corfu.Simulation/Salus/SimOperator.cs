using Corfu.Protocol;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Salus.Coordination;
using Salus.Protocol;

namespace Corfu.Simulation.Salus;

/// <summary>An operator who gives up what no store has any more (`corfu volume recover --accept-loss`): when a volume
/// waits for it, all machines run, and all copies were harmed before.</summary>
internal sealed class SimOperator(SalusCluster cluster)
{
    private static readonly TimeSpan s_interval = TimeSpan.FromMilliseconds(200);

    private bool _isStarted;

    /// <summary>Looks at the volumes from now on.</summary>
    public void Start()
    {
        if (_isStarted) return;
        _isStarted = true;
        var process = cluster.NewProcess("operator");
        process.Start("operate", () => RunAsync(process));
    }

    private async Task RunAsync(SimProcess process)
    {
        var entropy = new SimEntropy(cluster.World.Random.Split("operator"));
        var runtime = cluster.OpenRuntime(process, "operator", entropy);
        var map = await VolumeMap.OpenAsync(runtime, process.Time, process.Loops);
        var admin = new SalusAdmin(runtime, map, process.Time, entropy);
        while (true)
        {
            await Task.Delay(s_interval, process.Time);
            foreach (var (name, id) in cluster.Volumes)
            {
                if (cluster.Truth.StateOf(id).Head.Phase != RunPhase.Waiting
                    || !cluster.Machines.TrueForAll(machine => machine.Running)) continue;
                try
                {
                    await admin.AcceptLossAsync(name, "operator");
                    cluster.Monitor.Mark("loss accepted");
                }
                catch (Exception e) when (e is SalusRefusedException or CorfuException)
                {
                    cluster.Monitor.Mark("loss not accepted");
                }
            }
        }
    }
}
