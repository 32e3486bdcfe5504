using Corfu.Simulation.Checkers;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>
/// A client that calls nothing for a while. Entries that it has still to play may be trimmed meanwhile (R22), if others
/// make checkpoints of its objects: the third and the fourth client host what the first two do.
/// </summary>
internal sealed class Naps(
    World world, SeedPlan plan, ClusterMonitor monitor, Ledger ledger, TrimPointChecker trimPoint)
{
    private const long Longest = 5 * TimeSpan.TicksPerSecond;
    private static readonly TimeSpan s_step = TimeSpan.FromMilliseconds(20);

    // The client that is asleep, or -1.
    private int _asleep = -1;
    private long _until;

    public void FallAsleep(TangoClient client)
    {
        int number = client.Number;
        if ((number < 2 && number + 2 >= plan.Clients) || (_asleep >= 0 && world.Now < _until)) return;
        (_asleep, _until) = (number, world.Now + Longest);
    }

    /// <summary>Completes when the client is awake.</summary>
    public async Task SleepAsync(TangoClient client)
    {
        while (_asleep == client.Number && world.Now < _until && !ledger.Exhausted)
        {
            if (client.Runtime.Log.PlayedTo.Offset < trimPoint.Trimmed)
            {
                monitor.Mark("trimmed behind a sleeping client");
                _asleep = -1;
                return;
            }

            await Task.Delay(s_step, client.Time);
        }
    }
}
