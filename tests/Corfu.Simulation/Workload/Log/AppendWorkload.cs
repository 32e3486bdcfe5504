using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Workload.Log;

/// <summary>Appends to some streams, alone and in bursts, with every answer written down.</summary>
internal sealed class AppendWorkload(
    World world, SeedPlan plan, LogHistory history, ClusterMonitor monitor, Ledger ledger, LogStreams streams)
    : IWorkload<LogClient>
{
    private readonly WildAppends _wild = new(world, history, monitor, ledger);
    private readonly LostAnswers _lost = new(world, history, monitor, ledger);

    public IEnumerable<WorkloadAction<LogClient>> Actions =>
    [
        new(static p => p.Append, (c, random) => AppendAsync(c, PickStreams(streams.Growing, random), random), true),
        new(static p => p.Burst, (c, random) => BurstAsync(c, [random.Pick(streams.Growing)], random), true),
    ];

    /// <summary>Many appends to the same streams at once: neighbours that share their tokens, and their fate.</summary>
    private Task BurstAsync(LogClient client, ImmutableArray<StreamId> to, SimRandom random) =>
        Task.WhenAll(Enumerable.Range(0, random.Between(3, 10)).Select(_ => AppendAsync(client, to, random)));

    private async Task AppendAsync(LogClient client, ImmutableArray<StreamId> to, SimRandom random)
    {
        ICorfuLog log = client.Log;
        long id = ledger.NextPayload();
        byte[] payload = LogPayload.Of(id, random.Chance(0.05) ? random.Next(3000) : random.Next(100));
        long start = world.Steps;
        int slot = history.Appends.Count;
        var op = new AppendOp(client.Number, id, [.. to.Select(s => s.Value)], start, LogHistory.Never,
            AppendFate.Unknown, -1);
        history.Appends.Add(op);
        AppendResult result;
        try
        {
            result = await log.AppendAsync(payload, to);
        }
        catch (CorfuException e)
            when (e is CorfuDeniedException or CorfuStatusException { Status: Status.NoSpace }
                && plan.Has(FaultKind.Duplication))
        {
            // Here a frame may arrive twice, which a connection's never do: the second copy may have met room, or a
            // process that denied nothing any more.
            throw;
        }
        catch (Exception e) when (LogRefusal.Is(e))
        {
            // A refusal says: certainly not in the log.
            history.Appends[slot] = op with { End = world.Steps, Outcome = AppendFate.Refused };
            throw;
        }

        AppendOutcome outcome = result.Outcome;
        for (int attempt = 0; outcome == AppendOutcome.Unknown && attempt < 3; attempt++)
        {
            monitor.Mark("append unknown");
            outcome = await log.ResolveAsync(result);
        }

        if (outcome == AppendOutcome.Appended)
        {
            monitor.Acknowledged(result.Position, result.Origin.Writer.Value, result.Origin.Sequence);
            End(AppendFate.Acknowledged);
            ledger.Learn(result.Position.Offset, result.Position.Epoch);
            if (plan.Has(FaultKind.WildPositions) && random.Chance(0.2))
                await _wild.ResolveAsync(slot, log, result, random);
            if (plan.Has(FaultKind.WildPositions) && log is IDelegatedLog delegated && random.Chance(0.1))
                await _lost.LoseAsync(client.Number, delegated, random);
        }
        else if (outcome == AppendOutcome.NotAppended)
        {
            monitor.Mark("append resolved as not appended");
            End(AppendFate.Refused);
        }

        void End(AppendFate fate) => history.Appends[slot] =
            op with { End = world.Steps, Outcome = fate, Position = result.Position.Offset };
    }

    private static ImmutableArray<StreamId> PickStreams(StreamId[] streams, SimRandom random)
    {
        int count = random.Pick([0, 1, 1, 1, 2, 3]);
        StreamId[] shuffled = [.. streams];
        random.Shuffle(shuffled);
        return [.. shuffled.Take(count)];
    }
}
