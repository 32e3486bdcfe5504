using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Protocol;
using Corfu.Simulation.Checkers;
using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Workload;

// Prefix trims under objects. There are no checkpoints to begin from, so nobody may come later (SeedPlan.TrimsObjects),
// and what somebody has still to play stays.
public sealed partial class TangoWorkload
{
    private const int Batch = 50;

    // Enumerated for its minimum only.
    private readonly Dictionary<int, TangoClient> _open = [];
    private long _trimmed;

    /// <summary>From here on the log may be trimmed up to where this client has played.</summary>
    public void Opened(int client, TangoClient tango) => _open[client] = tango;

    private async Task TrimAsync(int client, ICorfuLog own, SimRandom random)
    {
        if (_open.Count < plan.Clients) return;
        long below = _open.Values.Min(c => c.Runtime.PlayedTo.Offset) - random.Next(10);
        if (below <= _trimmed) return;
        try
        {
            // The checker replays what the scan of the final log will not find any more.
            for (long from = _trimmed; from < below; from += Batch)
            {
                ImmutableArray<LogPosition> positions = [.. Enumerable.Range(0, (int)Math.Min(Batch, below - from))
                    .Select(i => new LogPosition(from + i))];
                foreach (LogReadResult read in await own.ReadManyAsync(positions))
                {
                    if (read.State == PageState.Data)
                        Locate(history, read.Position.Offset, read.Entry!.Payload.Span, monitor);
                }
            }

            int slot = log.Trims.Count;
            log.Trims.Add(new TrimOp(client, below, true, world.Steps, LogHistory.Never));
            await own.TrimPrefixAsync(new LogPosition(below));
            log.Trims[slot] = log.Trims[slot] with { End = world.Steps };
            _trimmed = Math.Max(_trimmed, below);
            monitor.Mark("log trimmed under objects");
        }
        catch (LogUnavailableException)
        {
            monitor.Mark("operation given up");
        }
    }
}
