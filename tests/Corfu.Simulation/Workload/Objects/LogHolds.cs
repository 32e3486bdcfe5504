using Corfu.Simulation.Checkers;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Tango;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>Readers that hold the log for a while.</summary>
internal sealed class LogHolds(ClusterMonitor monitor, TrimPointChecker trimPoint)
{
    private static readonly TimeSpan s_lease = TimeSpan.FromHours(1);

    // Oldest first.
    private readonly Queue<(string Name, long Version)> _holds = [];
    private int _readers;

    public async Task HoldAsync(TangoClient client, SimRandom random)
    {
        string name = $"reader {++_readers}";
        LogPosition position = new(Math.Max(0, trimPoint.Trimmed + random.Between(-3, 30)));
        try
        {
            long version = await client.Runtime.Log.HoldAsync(name, position, s_lease);
            trimPoint.Held(name, position.Offset);
            _holds.Enqueue((name, version));
            monitor.Mark("reader holds the log");
        }
        catch (TangoRejectedException)
        {
            monitor.Mark("claim below the released refused");
        }
    }

    /// <summary>Lets the oldest hold go, if there is one.</summary>
    public Task LetOldestGoAsync(TangoClient client) => _holds.TryDequeue(out var hold)
        ? LetGoAsync(client, hold.Name, hold.Version)
        : Task.CompletedTask;

    public async Task LetGoAsync(TangoClient client, string name, long version)
    {
        trimPoint.LettingGo(name);
        await client.Runtime.Log.LetGoAsync(name, version);
    }
}
