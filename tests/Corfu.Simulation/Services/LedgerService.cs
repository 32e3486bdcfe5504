using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Workload;
using Corfu.Simulation.Workload.Objects;
using Tango;
using Tango.Ledgers;

namespace Corfu.Simulation.Services;

/// <summary>A store of ledgers that all processes open.</summary>
internal sealed class LedgerService(ServicesPlan plan, ClusterMonitor monitor, ToldTrims trims, World world)
    : IService
{
    private const int CheckpointEvery = 10;

    private readonly LedgerMonitor _monitor = new(monitor);

    public async Task<IServiceProcess> OpenAsync(SimClientNode node)
    {
        SimRandom random = world.Random.Split($"ledgers {node.Name} {node.Process!.Id}");
        var log = new TrimObserver(node.Log!,
            (below, trim) => trims.TrimAsync(node, below, "ledger trimmed below", trim),
            static _ => Task.CompletedTask, static (_, _, _) => { })
        {
            AroundOne = (position, trim) => trims.TrimOneAsync(node, position, trim),
        };
        var runtime = new TangoRuntime(log, node.OpenCursor, node.Process!.Time, node.Entropy,
            new TangoOptions
            {
                Checkpoints = new CheckpointPolicy { Updates = CheckpointEvery, TrimsLog = plan.Trims },
                IdlePlayback = TimeSpan.FromMilliseconds(20),
                OrphanTimeout = plan.Log.OrphanTimeout,
                // Claims follow the checkpoints closely.
                NewLogMaxSpan = 1,
                NewLogVersionAge = 16,
            },
            new SimLogger(world, node.Name), TangoClient.LoopsHere());
        var options = new LedgerOptions
        {
            MaxAppendsInFlight = random.Pick([1, 4, 64]),
            MaxBatchBytes = random.Pick([64, 4_096]),
            Time = node.Process!.Time,
        };
        while (true)
        {
            try
            {
                LedgerStore store = await LedgerStore.OpenAsync(
                    log, runtime, "ledgers", options, TangoClient.LoopsHere());
                return new LedgerProcess(node, runtime, store, _monitor);
            }
            catch (Exception e) when (LedgerProcess.IsPassing(e))
            {
                monitor.Mark("operation given up");
            }
        }
    }
}
