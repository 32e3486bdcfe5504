using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Workload.Log;

/// <summary>Trims single positions and prefixes, in any order.</summary>
internal sealed class TrimWorkload(
    World world, SeedPlan plan, LogHistory history, ClusterMonitor monitor, Ledger ledger) : IWorkload<LogClient>
{
    public IEnumerable<WorkloadAction<LogClient>> Actions =>
        [new(static p => p.Trim, TrimAsync) { IsPossible = () => plan.Trims && ledger.AnyGranted }];

    private async Task TrimAsync(LogClient client, SimRandom random)
    {
        LogPosition granted = ledger.SomeGranted(random);
        long position = granted.Offset / (random.Chance(0.5) ? 2 : 1);
        bool prefix = random.Chance(0.3);
        // Operators name bare positions, programs those that they were given.
        LogPosition named = position % 2 == 0 ? new LogPosition(position, granted.Epoch) : new LogPosition(position);
        int slot = history.Trims.Count;
        long start = world.Steps;
        history.Trims.Add(new TrimOp(client.Number, position, prefix, start, LogHistory.Never));
        try
        {
            if (prefix) await client.Log.TrimPrefixAsync(named);
            else await client.Log.TrimAsync(named);
            history.Trims[slot] = history.Trims[slot] with { End = world.Steps };
        }
        catch (PositionNotGrantedException)
            when (named.Epoch == Epoch.None && !IsBelowTail(prefix ? position - 1 : position, start))
        {
            // R10: only granted by an epoch that ended before a client wrote there, and not yet by the next one.
            monitor.Mark("trim of a grant that died with its epoch");
        }
    }

    // An acknowledged entry stays below all later tails.
    private bool IsBelowTail(long position, long before) =>
        history.Appends.Exists(
            a => a.Outcome == AppendFate.Acknowledged && a.End < before && a.Position >= position);
}
