using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Workload;

public sealed partial class LogWorkload
{
    private static readonly WriterId s_foreigner = new(new Guid("f0f0f0f0-f0f0-f0f0-f0f0-f0f0f0f0f0f0"));

    /// <summary>As a client that has lost the epoch of an append, or has a position of another cluster: resolves what
    /// is acknowledged by its bare position, and appends at positions that were not granted.</summary>
    private async Task ResolveWildlyAsync(int slot, ICorfuLog log, AppendResult known, SimRandom random)
    {
        var bare = known with
        {
            Outcome = AppendOutcome.Unknown,
            Position = new LogPosition(known.Position.Offset)
        };
        AppendOutcome outcome = await log.ResolveAsync(bare);
        if (outcome == AppendOutcome.Appended) monitor.Mark("append resolved without its epoch");
        // Not so: the checker compares it with the log.
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
