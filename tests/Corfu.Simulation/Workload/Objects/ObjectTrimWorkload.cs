using System.Collections.Immutable;
using Corfu.Simulation.Checkers;
using Corfu.Simulation.Kernel;
using Tango;

namespace Corfu.Simulation.Workload;

// Prefix trims under objects, as the trim point allows: claims of objects, and of readers that hold the log for a
// while. In seeds without checkpoints those that are recorded are not made, so that no client may come later
// (SeedPlan.TrimsObjects). What a client has still to play stays.
public sealed partial class TangoWorkload
{
    private const int Batch = 50;
    private const double ShareOfNaps = 0.3;
    private const double ShareOfLateDecisions = 0.1;
    private const int RoundsToTrimAll = 10;
    private static readonly TimeSpan s_untilDecided = TimeSpan.FromMilliseconds(100);
    private const long LongestNap = 5 * TimeSpan.TicksPerSecond;
    private static readonly TimeSpan s_napStep = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan s_lease = TimeSpan.FromHours(1);

    private readonly TrimPointChecker _trimPoint = new(monitor);

    // Enumerated for its minimum only.
    private readonly Dictionary<int, TangoClient> _open = [];

    // Holds of readers, oldest first.
    private readonly Queue<(string Name, long Version)> _holds = [];
    private int _readers;

    // A client that calls nothing for a while, and until when at most.
    private int _asleep = -1;
    private long _asleepUntil;

    // Below, all values are noted.
    private long _located;

    /// <summary>From here on the log may be trimmed up to where this client has played.</summary>
    public void Opened(int client, TangoClient tango) => _open[client] = tango;

    /// <summary>The log that the client's runtime trims.</summary>
    public ICorfuLog Observe(int client, ICorfuLog own, TimeProvider time, SimRandom random) =>
        plan.TrimsObjects || plan.Checkpoints
            ? new TrimObserver(
                own, (below, trim) => TrimPrefixAsync(client, own, below.Offset, trim),
                payload => DelayDecisionAsync(payload, time, random),
                (payload, streams, at) => NoteFacts(history.Facts, payload, [.. streams], at.Offset))
            : own;

    /// <summary>R20: checkpoints and trims come while commit records are undecided.</summary>
    private Task DelayDecisionAsync(ReadOnlyMemory<byte> payload, TimeProvider time, SimRandom random)
    {
        if (!plan.Checkpoints || !HoldsDecision(payload) || !random.Chance(ShareOfLateDecisions))
            return Task.CompletedTask;
        monitor.Mark("decision came late");
        return Task.Delay(TimeSpan.FromMilliseconds(random.Between(50, 800)), time);
    }

    private async Task TrimOrHoldAsync(int client, TangoClient tango, SimRandom random)
    {
        if (_open.Count < plan.Clients) return;
        try
        {
            bool trims = random.Chance(0.5);
            if (plan.Checkpoints && random.Chance(ShareOfNaps)) FallAsleep(client);
            else if (trims && plan.Checkpoints) await CheckpointOrTrimAsync(client, tango, random);
            else if (trims) await TrimAsync(tango, random);
            else if (random.Chance(0.6)) await HoldAsync(tango, random);
            else if (_holds.TryDequeue(out var hold)) await LetGoAsync(tango, hold.Name, hold.Version);
        }
        catch (Exception e) when (e is TangoInDoubtException || IsLogsRefusal(e))
        {
            monitor.Mark("operation given up");
        }
    }

    /// <summary>Entries that the client has still to play may be trimmed meanwhile (R22), if others make checkpoints of
    /// its objects. The third and the fourth client host what the first two do.</summary>
    private void FallAsleep(int client)
    {
        if ((client < 2 && client + 2 >= plan.Clients) || (_asleep >= 0 && world.Now < _asleepUntil)) return;
        (_asleep, _asleepUntil) = (client, world.Now + LongestNap);
    }

    private async Task NapAsync(int client, TangoClient tango)
    {
        while (_asleep == client && world.Now < _asleepUntil && !ledger.Exhausted)
        {
            if (tango.Runtime.Log.PlayedTo.Offset < _trimPoint.Trimmed)
            {
                monitor.Mark("trimmed behind a sleeping client");
                _asleep = -1;
                return;
            }

            await Task.Delay(s_napStep, tango.Time);
        }
    }

    private async Task TrimAsync(TangoClient tango, SimRandom random)
    {
        long below = _open.Values.Min(c => c.Runtime.Log.PlayedTo.Offset) - random.Next(10);
        foreach (ObjectId cohort in tango.Runtime.Services.Playback.Directory.Published.Claims.Cohorts.Keys)
        {
            LogPosition end = new(Math.Max(0, below));
            try
            {
                await tango.Runtime.Services.Handle.CheckpointedAsync(cohort, end, end, null, default);
            }
            catch (TangoRejectedException)
            {
                monitor.Mark("claim of a checkpoint refused");
            }
        }

        // A reader that comes meanwhile is either heeded or refused.
        Task hold = random.Chance(0.5) ? HoldAsync(tango, random) : Task.CompletedTask;
        try
        {
            await tango.Runtime.Log.TrimAsync();
        }
        finally
        {
            await hold;
        }
    }

    private async Task HoldAsync(TangoClient tango, SimRandom random)
    {
        string name = $"reader {++_readers}";
        LogPosition position = new(Math.Max(0, _trimPoint.Trimmed + random.Between(-3, 30)));
        try
        {
            long version = await tango.Runtime.Log.HoldAsync(name, position, s_lease);
            _trimPoint.Held(name, position.Offset);
            _holds.Enqueue((name, version));
            monitor.Mark("reader holds the log");
        }
        catch (TangoRejectedException)
        {
            monitor.Mark("claim below the released refused");
        }
    }

    private async Task LetGoAsync(TangoClient tango, string name, long version)
    {
        _trimPoint.LettingGo(name);
        await tango.Runtime.Log.LetGoAsync(name, version);
    }

    private async Task TrimPrefixAsync(int client, ICorfuLog own, long below, Func<Task> trim)
    {
        _trimPoint.Trimming(client, below);
        // The checker replays what the scan of the final log will not find any more.
        await foreach (LogEntry entry in ReadAsync(own, _located, below)) Locate(history, entry, monitor);
        _located = Math.Max(_located, below);
        await CheckNeedsAsync(client, own, below);
        CheckValues(client, below);
        int slot = log.Trims.Count;
        log.Trims.Add(new TrimOp(client, below, true, world.Steps, LogHistory.Never));
        await trim();
        log.Trims[slot] = log.Trims[slot] with { End = world.Steps };
        monitor.Mark("log trimmed under objects");
    }

    /// <summary>
    /// Checker <c>disk-use</c>: when all readers have let go and nothing moves, two checkpoints of each cohort and a
    /// trim leave no more than was appended since, and the span. What is undecided is decided first (R20).
    /// </summary>
    /// <param name="tango">Client that hosts everything.</param>
    public async Task TrimAllAsync(TangoClient tango, ICorfuLog own)
    {
        if (!plan.TrimsObjects || !plan.Checkpoints) return;
        LogPosition before = LogPosition.Zero, released = before;
        for (int round = 0; round < RoundsToTrimAll; round++)
        {
            LogPosition tail = (await own.CheckAsync([])).Tail;
            try
            {
                // R20: a client that lacks a member's type makes no checkpoint of its group.
                if (tango.AnnexKey is null && await tango.Runtime.Directory.ExistsAsync(TangoClient.AnnexName))
                    await tango.OpenAnnexAsync();
                released = await TrimOnceAsync(tango);
            }
            catch (Exception e) when (e is TangoInDoubtException || IsLogsRefusal(e))
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
            await Task.Delay(s_untilDecided, tango.Time);
        }

        TangoTrimPoint point = await tango.Runtime.Log.ReadTrimPointAsync();
        monitor.Found(CheckerNames.DiskUse,
            $"released {released}, and checkpoints end at {before} or above: {string.Join(", ", point.Claims)}; "
            + $"undecided: {string.Join(" ", history.Facts.Undecided)}");
    }

    private async Task<LogPosition> TrimOnceAsync(TangoClient tango)
    {
        // Also those of clients that did not live to hear of them, whose leases would expire.
        await tango.Runtime.SyncAsync();
        foreach ((string name, HoldClaim hold) in tango.Runtime.Services.Playback.Directory.Published.Claims.Holds)
            await LetGoAsync(tango, name, hold.Version);
        foreach (DirectoryEntry entry in await tango.Runtime.Directory.ListAsync())
        {
            if (s_temporary.Contains(entry.Name) || s_forks.Contains(entry.Name))
                await tango.Runtime.Directory.DeleteAsync(entry.Name);
        }

        // Something new, so that the next checkpoints end above these.
        await tango.WriteAsync(s_keys[0], TxAttempt.ValueOf(ledger.NextPayload(), 0));
        foreach (string solo in tango.Readable) await tango.Runtime.Checkpoints.WriteAsync(tango.SoloOf(solo));
        await tango.Runtime.Checkpoints.WriteAsync(tango.CellsObject);
        if (plan.Indexes) await CompactAllAsync(tango);
        await tango.Runtime.Checkpoints.WriteDirectoryAsync();
        return await tango.Runtime.Log.TrimAsync();
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
            NoteFacts(history.Facts, entry.Payload, streams, entry.Position.Offset);
        }

        foreach (string why in Needs()) _trimPoint.Needed(client, below, why);

        string[] Needs()
        {
            // A fork begins with a checkpoint, and has no record of its own there.
            foreach (DirectoryEntry fork in NewestDirectory.Entries.Where(static entry => entry.Origin is not null))
                history.Facts.Entry(fork.Id.Value, fork.Created.Offset);
            return [.. history.Facts.NeededBelow(below, CohortOf)];
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

    /// <summary>As the client that has played the most knows it: what is deleted has no cohort.</summary>
    private IReadOnlyList<ulong> CohortOf(ulong id) =>
        id == ObjectId.Directory.Value
            ? [id]
            : [.. NewestDirectory.GroupOf(new ObjectId(id)).Select(static member => member.Id.Value)];

    private TangoDirectory NewestDirectory =>
        _open.Values.MaxBy(static c => c.Runtime.Log.PlayedTo)!.Runtime.Services.Playback.Directory.Published;
}
