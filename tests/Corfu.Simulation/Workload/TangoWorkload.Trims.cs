using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Protocol;
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
    private static readonly TimeSpan s_lease = TimeSpan.FromHours(1);

    private readonly TrimPointChecker _trimPoint = new(monitor);

    // Enumerated for its minimum only.
    private readonly Dictionary<int, TangoClient> _open = [];

    // What readers hold, oldest first.
    private readonly Queue<(string Name, long Version)> _holds = [];
    private int _readers;

    // Below, all values are noted.
    private long _located;

    /// <summary>From here on the log may be trimmed up to where this client has played.</summary>
    public void Opened(int client, TangoClient tango) => _open[client] = tango;

    /// <summary>The log that the client's runtime trims.</summary>
    public ICorfuLog Observe(int client, ICorfuLog own) =>
        plan.TrimsObjects
            ? new TrimObserver(own, (below, trim) => TrimPrefixAsync(client, own, below.Offset, trim))
            : own;

    private async Task TrimOrHoldAsync(TangoClient tango, SimRandom random)
    {
        if (_open.Count < plan.Clients) return;
        try
        {
            bool trims = random.Chance(0.5);
            if (trims && plan.Checkpoints) await CheckpointOrTrimAsync(tango, random);
            else if (trims) await TrimAsync(tango, random);
            else if (random.Chance(0.6)) await HoldAsync(tango, random);
            else if (_holds.TryDequeue(out var hold)) await LetGoAsync(tango, hold.Name, hold.Version);
        }
        catch (Exception e) when (e is TangoInDoubtException or LogUnavailableException)
        {
            monitor.Mark("operation given up");
        }
    }

    private async Task TrimAsync(TangoClient tango, SimRandom random)
    {
        long below = _open.Values.Min(c => c.Runtime.PlayedTo.Offset) - random.Next(10);
        foreach (ObjectId unit in tango.Runtime.DirectoryView.Claims.Units.Keys)
        {
            LogPosition end = new(Math.Max(0, below));
            try
            {
                await tango.Runtime.Directory.CheckpointedAsync(unit, end, end, default);
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
            await tango.Runtime.TrimAsync();
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
            long version = await tango.Runtime.HoldAsync(name, position, s_lease);
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
        await tango.Runtime.LetGoAsync(name, version);
    }

    private async Task TrimPrefixAsync(int client, ICorfuLog own, long below, Func<Task> trim)
    {
        _trimPoint.Trimming(client, below);
        // The checker replays what the scan of the final log will not find any more.
        for (long from = _located; from < below; from += Batch)
        {
            ImmutableArray<LogPosition> positions = [.. Enumerable.Range(0, (int)Math.Min(Batch, below - from))
                .Select(i => new LogPosition(from + i))];
            foreach (LogReadResult read in await own.ReadManyAsync(positions))
            {
                if (read.State == PageState.Data)
                    Locate(history, read.Entry!, monitor);
            }
        }

        _located = Math.Max(_located, below);
        int slot = log.Trims.Count;
        log.Trims.Add(new TrimOp(client, below, true, world.Steps, LogHistory.Never));
        await trim();
        log.Trims[slot] = log.Trims[slot] with { End = world.Steps };
        monitor.Mark("log trimmed under objects");
    }
}
