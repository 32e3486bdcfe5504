using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Workload;
using Corfu.Simulation.Workload.Objects;
using Corfu.Store;
using Tango;

namespace Corfu.Simulation.Services;

/// <summary>A key-value store that all processes open.</summary>
internal sealed class StoreService(ServicesPlan plan, ClusterMonitor monitor, ToldTrims trims, World world) : IService
{
    private const int CheckpointEvery = 10;

    private readonly StoreMonitor _monitor = new(monitor);

    public async Task<IServiceProcess> OpenAsync(SimClientNode node)
    {
        SimRandom random = world.Random.Split($"store {node.Name} {node.Process!.Id}");
        var log = new TrimObserver(node.Log!,
            (below, trim) => trims.TrimAsync(node, below, "store trimmed below", trim),
            _ => PauseAsync(node, random), static (_, _, _) => { })
        {
            AroundOne = (position, trim) => trims.TrimOneAsync(node, position, trim),
        };
        var runtime = new TangoRuntime(log, node.OpenCursor, node.Process!.Time, node.Entropy,
            new TangoOptions
            {
                Checkpoints = new CheckpointPolicy { Updates = CheckpointEvery, TrimsLog = plan.Trims },
                IdlePlayback = TimeSpan.FromMilliseconds(20),
                OrphanTimeout = plan.Log.OrphanTimeout,
                MaxResolveAttempts = plan.Store.ResolveAttempts,
                // Claims follow the checkpoints closely, and some values are too old.
                NewLogMaxSpan = 8,
                NewLogVersionAge = 16,
            },
            new SimLogger(world, node.Name), TangoClient.LoopsHere());
        var options = new StoreOptions
        {
            Loops = TangoClient.LoopsHere(),
            InlineBytes = random.Pick([0, 100, 1_024]),
            ValueCacheBytes = random.Pick([0, 2_000, 1 << 20]),
            Time = node.Process!.Time,
        };
        while (true)
        {
            try
            {
                CorfuStore store = await CorfuStore.OpenAsync(
                    log, runtime, "store", options, minRevision: _monitor.Answered);
                return new StoreProcess(node, runtime, store, _monitor, plan.Store);
            }
            catch (Exception e) when (StoreProcess.IsPassing(e))
            {
                monitor.Mark("operation given up");
            }
        }
    }

    // Meanwhile others make checkpoints, and trim.
    private Task PauseAsync(SimClientNode node, SimRandom random) => random.Chance(plan.Store.ShareOfPauses)
        ? Task.Delay(TimeSpan.FromMilliseconds(random.Between(1, 100)), node.Process!.Time)
        : Task.CompletedTask;
}
