using System.Collections.Immutable;
using Corfu.Simulation.Checkers;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Tango;
using Tango.Model;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>Checks before each prefix trim of a runtime that no reader, opener, undecided commit record or view needs
/// an entry below.</summary>
/// <param name="index">Null: no client keeps values in the log.</param>
internal sealed class TrimGuard(
    World world, SeedPlan plan, LogHistory log, TxHistory history, ClusterMonitor monitor, TrimPointChecker trimPoint,
    OpenClients clients, IndexWorkload? index)
{
    private const int Batch = 50;
    private const double ShareOfLateDecisions = 0.1;

    // Below, all values are noted.
    private long _located;

    /// <summary>The log that the client's runtime trims.</summary>
    public ICorfuLog Observe(SimClientNode node, SimRandom random)
    {
        ICorfuLog own = node.Log!;
        TimeProvider time = node.Process!.Time;
        return plan.TrimsObjects || plan.Checkpoints
            ? new TrimObserver(
                own, (below, trim) => TrimPrefixAsync(node.Number, own, below.Offset, trim),
                payload => DelayDecisionAsync(payload, time, random),
                (payload, streams, at) => LoggedWrites.NoteFacts(history.Facts, payload, [.. streams], at.Offset))
            : own;
    }

    /// <summary>R20: checkpoints and trims come while commit records are undecided.</summary>
    private Task DelayDecisionAsync(ReadOnlyMemory<byte> payload, TimeProvider time, SimRandom random)
    {
        if (!plan.Checkpoints || !LoggedWrites.HoldsDecision(payload) || !random.Chance(ShareOfLateDecisions))
            return Task.CompletedTask;
        monitor.Mark("decision came late");
        return Task.Delay(TimeSpan.FromMilliseconds(random.Between(50, 800)), time);
    }

    private async Task TrimPrefixAsync(int client, ICorfuLog own, long below, Func<Task> trim)
    {
        trimPoint.Trimming(client, below);
        // The checker replays what the scan of the final log will not find any more.
        await foreach (LogEntry entry in ReadAsync(own, _located, below)) LoggedWrites.Locate(history, entry, monitor);
        _located = Math.Max(_located, below);
        await CheckNeedsAsync(client, own, below);
        if (index is not null && clients.Find(client) is { } trimming)
        {
            foreach (string why in index.NeededBelow(below, trimming)) trimPoint.Needed(client, below, why);
        }

        int slot = log.Trims.Count;
        log.Trims.Add(new TrimOp(client, below, true, world.Steps, LogHistory.Never));
        await trim();
        log.Trims[slot] = log.Trims[slot] with { End = world.Steps };
        monitor.Mark("log trimmed under objects");
    }

    /// <summary>Before the trim: openers start at complete checkpoints (R21), and what an undecided commit record reads
    /// can be played to exactly there (R20).</summary>
    private async Task CheckNeedsAsync(int client, ICorfuLog own, long below)
    {
        if (!plan.Checkpoints || Needs().Length == 0) return;
        // Clients may have died before they heard of their appends: the log itself has those entries.
        LogCheck check = await own.CheckAsync([]);
        await foreach (LogEntry entry in ReadAsync(own, below, check.Tail.Offset))
        {
            StreamId[] streams = [.. entry.Streams.Select(static header => header.Stream)];
            LoggedWrites.NoteFacts(history.Facts, entry.Payload, streams, entry.Position.Offset);
        }

        foreach (string why in Needs()) trimPoint.Needed(client, below, why);

        string[] Needs()
        {
            TangoDirectory directory = clients.NewestDirectory;
            // A fork begins with a checkpoint, and has no record of its own there.
            foreach (DirectoryEntry fork in directory.Entries.Where(static entry => entry.Origin is not null))
                history.Facts.Entry(fork.Id.Value, fork.Created.Offset);
            return [.. history.Facts.NeededBelow(below, id => CohortOf(directory, id))];
        }
    }

    private static async IAsyncEnumerable<LogEntry> ReadAsync(ICorfuLog own, long from, long below)
    {
        for (; from < below; from += Batch)
        {
            ImmutableArray<LogPosition> positions = [.. Enumerable.Range(0, (int)Math.Min(Batch, below - from))
                .Select(i => new LogPosition(from + i))];
            foreach (LogReadResult read in await own.ReadManyAsync(positions))
            {
                if (read.State == PageState.Data) yield return read.Entry!;
            }
        }
    }

    /// <summary>A deleted object has no cohort.</summary>
    private static IReadOnlyList<ulong> CohortOf(TangoDirectory directory, ulong id) =>
        id == ObjectId.Directory.Value
            ? [id]
            : [.. directory.GroupOf(new ObjectId(id)).Select(static member => member.Id.Value)];
}
