using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Tango;
using Tango.Model;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>
/// Checker <c>disk-use</c>: when all readers have let go and nothing moves, two checkpoints of each cohort and a trim
/// leave no more than was appended since, and the span. Undecided records are decided first (R20).
/// </summary>
/// <param name="index">Null: no client keeps values in the log.</param>
internal sealed class DiskUseCheck(
    SeedPlan plan, ClusterMonitor monitor, Ledger ledger, HistoryFacts facts, LogHolds holds, IndexWorkload? index)
{
    private const int MostRounds = 10;
    private static readonly TimeSpan s_untilDecided = TimeSpan.FromMilliseconds(100);

    /// <param name="client">Hosts everything.</param>
    public async Task RunAsync(TangoClient client, ICorfuLog log)
    {
        if (!plan.TrimsObjects || !plan.Checkpoints) return;
        LogPosition before = LogPosition.Zero, released = before;
        for (int round = 0; round < MostRounds; round++)
        {
            LogPosition tail = (await log.CheckAsync([])).Tail;
            try
            {
                // R20: a client that lacks a member's type makes no checkpoint of its group.
                if (client.AnnexKey is null && await client.Runtime.Directory.ExistsAsync(TangoClient.AnnexName))
                    await client.OpenAnnexAsync();
                released = await TrimOnceAsync(client);
            }
            catch (Exception e) when (e is TangoInDoubtException || LogRefusal.Is(e))
            {
                monitor.Mark("operation given up");
                continue;
            }

            if (round > 0 && released.Offset >= before.Offset - plan.MaxSpan)
            {
                monitor.Mark("disk use bounded");
                return;
            }

            before = tail;
            await Task.Delay(s_untilDecided, client.Time);
        }

        TangoTrimPoint point = await client.Runtime.Log.ReadTrimPointAsync();
        monitor.Found(CheckerNames.DiskUse,
            $"released {released}, and checkpoints end at {before} or above: {string.Join(", ", point.Claims)}; "
            + $"undecided: {string.Join(" ", facts.Undecided)}");
    }

    private async Task<LogPosition> TrimOnceAsync(TangoClient client)
    {
        // Also those of clients that did not live to hear of them, whose leases would expire.
        await client.Runtime.SyncAsync();
        foreach ((string name, HoldClaim hold) in client.Runtime.Services.Playback.Directory.Published.Claims.Holds)
            await holds.LetGoAsync(client, name, hold.Version);
        foreach (DirectoryEntry entry in await client.Runtime.Directory.ListAsync())
        {
            if (TemporaryWorkload.Names.Contains(entry.Name) || ForkWorkload.Names.Contains(entry.Name))
                await client.Runtime.Directory.DeleteAsync(entry.Name);
        }

        // Something new, so that the next checkpoints end above these.
        await client.WriteAsync(TangoClient.SharedKeys[0], WrittenValue.Of(ledger.NextPayload(), 0));
        foreach (string solo in client.HostedSolos) await client.Runtime.Checkpoints.WriteAsync(client.SoloOf(solo));
        await client.Runtime.Checkpoints.WriteAsync(client.CellsObject);
        if (index is not null) await index.CompactAllAsync(client);
        await client.Runtime.Checkpoints.WriteDirectoryAsync();
        return await client.Runtime.Log.TrimAsync();
    }
}
