using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Workload.Log;

/// <summary>Plays streams while they grow, and in the end each from its beginning.</summary>
internal sealed class StreamWorkload(
    World world, SeedPlan plan, LogHistory history, ClusterMonitor monitor, LogStreams streams) : IWorkload<LogClient>
{
    public IEnumerable<WorkloadAction<LogClient>> Actions => [new(static p => p.ReadStream, ReadAsync)];

    public async Task CheckAsync(LogClient client)
    {
        // A walk from the start meets what was trimmed: that is an error by design (R22), so only untrimmed runs are
        // walked.
        if (history.Trims.Count > 0) return;
        foreach (StreamId stream in streams.All) await WalkAsync(client, stream, lasting: false);
    }

    private async Task ReadAsync(LogClient client, SimRandom random)
    {
        StreamId stream = random.Pick(streams.All);
        bool lasting = random.Chance(0.5);
        try
        {
            await WalkAsync(client, stream, lasting);
        }
        catch (LogTrimmedException) when (plan.Trims)
        {
            monitor.Mark("stream reader met a trim");
        }
    }

    private async Task WalkAsync(LogClient client, StreamId stream, bool lasting)
    {
        long start = world.Steps;
        IReadOnlyList<(long, long)> seen = await client.Streams.ReadAsync(stream, lasting);
        history.StreamReads.Add(new StreamReadOp(client.Number, stream.Value, start, world.Steps, seen));
    }
}
