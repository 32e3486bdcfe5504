using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Workload.Log;

/// <summary>A client that has lost the epoch of an append, or has a position of another cluster: it resolves an
/// acknowledged append by its bare position, and appends at positions that were not granted.</summary>
internal sealed class WildAppends(World world, LogHistory history, ClusterMonitor monitor, Ledger ledger)
{
    private static readonly WriterId s_foreigner = new(new Guid("f0f0f0f0-f0f0-f0f0-f0f0-f0f0f0f0f0f0"));

    /// <param name="slot">Place of the acknowledged append in the history.</param>
    public async Task ResolveAsync(int slot, ICorfuLog log, AppendResult known, SimRandom random)
    {
        var bare = known with
        {
            Outcome = AppendOutcome.Unknown,
            Position = new LogPosition(known.Position.Offset)
        };
        AppendOutcome outcome = await log.ResolveAsync(bare);
        if (outcome == AppendOutcome.Appended) monitor.Mark("append resolved without its epoch");
        // The answer contradicts the acknowledgement: the checker compares it with the log.
        if (outcome == AppendOutcome.NotAppended)
            history.Appends[slot] = history.Appends[slot] with { Outcome = AppendFate.Refused };

        LogPosition foreign = ledger.Newest + random.Between(1, 100_000);
        if (random.Chance(0.5)) foreign = new LogPosition(foreign.Offset);
        try
        {
            outcome = await log.ResolveAsync(new AppendResult(
                AppendOutcome.Unknown, foreign, new EntryOrigin(s_foreigner, random.Between(1, 1000))));
            if (outcome == AppendOutcome.Appended) world.Fail($"{foreign} holds an append that was never made");
            if (outcome == AppendOutcome.NotAppended) monitor.Mark("foreign append resolved");
        }
        catch (PositionNotGrantedException)
        {
            monitor.Mark("foreign append refused");
        }
    }
}
