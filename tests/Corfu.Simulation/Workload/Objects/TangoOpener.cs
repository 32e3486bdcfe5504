using Corfu.Client;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Tango;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>Opens the objects of a client's process, as its place in the plan says.</summary>
internal sealed class TangoOpener(
    World world, SeedPlan plan, ClusterMonitor monitor, TrimGuard guard, Workers workers)
{
    // A run has some hundred updates.
    private const long CheckpointEvery = 25;

    // Short, so that objects leave and return.
    private static readonly TimeSpan s_remoteStay = TimeSpan.FromMilliseconds(20);

    /// <returns>Null: what a new client would have to play has been trimmed, and it is told so (R22).</returns>
    public async Task<TangoClient?> OpenAsync(SimClientNode node)
    {
        // The audit's client hosts all.
        int hosted = node.Number < plan.Clients ? node.Number % TangoClient.SoloKeys.Length : -1;
        while (true)
        {
            try
            {
                return await TangoClient.OpenAsync(
                    node, guard.Observe(node, workers.RandomOf(node, -1)), hosted, ReadsRemote(node),
                    plan.IsOld(node.Number), OptionsOf(node), new SimLogger(world, node.Name));
            }
            catch (Exception e) when (e is TangoInDoubtException || LogRefusal.Is(e))
            {
                monitor.Mark("opening was in doubt");
            }
            catch (TangoTrimmedException) when (plan.TrimsObjects)
            {
                monitor.Mark("opening met a trim");
                // A newer checkpoint stood behind the trim before it was carried out.
                if (!plan.Checkpoints) return null;
            }
        }
    }

    // Half of the clients read what they do not host. Under trims without checkpoints they would be told that it cannot
    // be opened any more.
    private bool ReadsRemote(SimClientNode node) =>
        ((ulong)node.Number + plan.Seed) % 2 == 0 && (plan.Checkpoints || !plan.TrimsObjects);

    // A record that older code cannot read stops all objects of its entry: in half of the seeds no other's.
    private TangoOptions OptionsOf(SimClientNode node)
    {
        var options = new TangoOptions
        {
            NewLogMaxSpan = plan.MaxSpan,
            NewLogVersionAge = plan.VersionAge,
            RemoteStay = s_remoteStay,
            // Idle playback would mend stalls that the run has to find.
            IdlePlayback = null,
            OrphanTimeout = plan.OrphanTimeout,
            Decisions = plan.Asks(node.Number) ? TransactionDecisions.Sequencer : TransactionDecisions.Playback,
            CellBits = plan.CellBits,
            Checkpoints = plan.Checkpoints
                ? new CheckpointPolicy { Updates = CheckpointEvery, TrimsLog = plan.TrimsObjects }
                : null,
        };
        bool isAlone = plan.TwoVersions && plan.Seed % 2 == 0 && !plan.IsOld(node.Number);
        return isAlone ? options with { MaxBatchStreams = 1 } : options;
    }
}
