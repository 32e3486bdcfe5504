using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Workload.Log;

/// <summary>Checks of the log's tail and of all streams' tails.</summary>
internal sealed class TailWorkload(
    World world, LogHistory history, ClusterMonitor monitor, Ledger ledger, LogStreams streams, FillWorkload fills)
    : IWorkload<LogClient>
{
    public IEnumerable<WorkloadAction<LogClient>> Actions =>
        [new(static p => p.Check, (client, _) => CheckTailsAsync(client))];

    private async Task CheckTailsAsync(LogClient client)
    {
        long start = world.Steps;
        LogCheck check = await client.Log.CheckAsync([.. streams.All]);
        history.Tails.Add(new TailOp(client.Number, start, world.Steps, check.Tail.Offset));
        foreach (StreamTail tail in check.Streams) monitor.CompareTail(tail, start);
        ledger.Learn(check.Tail.Offset - 1, check.Tail.Epoch);
        // A position granted in an older epoch is above the log's end now, unless it is granted again before the fill.
        LogPosition known = ledger.Newest;
        if (known.Epoch < check.Tail.Epoch && known >= check.Tail) await fills.FillAsync(client, known);
    }
}
