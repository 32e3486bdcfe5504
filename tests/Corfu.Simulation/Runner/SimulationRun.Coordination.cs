using Corfu.Simulation.Checkers;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Workload;
using Tango;

namespace Corfu.Simulation.Runner;

// Runs of clients that coordinate: all run one code, and nothing is trimmed.
public sealed partial class SimulationRun
{
    public CoordinationHistory Coordination { get; } = new();

    private async Task WorkAsync(SimClientNode node, CoordinationWorkload work)
    {
        CoordinationClient own = await OpenCoordinationAsync(node);
        await Task.WhenAll(Enumerable.Range(0, _plan.Workers).Select(
            worker => work.WorkAsync(node.Number, own, node.Process!.Time, RandomOf(node, worker))));
    }

    private async Task AuditAsync(SimClientNode node, CoordinationWorkload work) =>
        await work.AuditAsync(await OpenCoordinationAsync(node), node.Log!, node.Process!.Time);

    private async Task<CoordinationClient> OpenCoordinationAsync(SimClientNode node)
    {
        var options = new TangoOptions
        {
            NewLogMaxSpan = _plan.MaxSpan,
            // Processes that wait for nothing watch leases, too.
            IdlePlayback = _plan.LeaseTime / 2,
            OrphanTimeout = _plan.OrphanTimeout,
            Checkpoints = _plan.Checkpoints
                ? new CheckpointPolicy { Updates = CheckpointEvery, TrimsLog = false }
                : null,
        };
        while (true)
        {
            try
            {
                return await CoordinationClient.OpenAsync(
                    node.Log!, node.OpenCursor, node.Process!.Time, node.Entropy, _plan.Seed % 2 == 0, options,
                    new SimLogger(World, node.Name));
            }
            catch (Exception e) when (e is TangoInDoubtException || TangoWorkload.IsLogsRefusal(e))
            {
                Cluster.Monitor.Mark("opening was in doubt");
            }
        }
    }
}
