using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Workload;

/// <summary>Trims that the audit of the log is told of.</summary>
internal sealed class ToldTrims(World world, LogHistory history, ClusterMonitor monitor)
{
    /// <param name="trim">Carries it out; by default by the client's own log.</param>
    public async Task TrimAsync(SimClientNode node, LogPosition below, string situation, Func<Task>? trim = null)
    {
        int slot = history.Trims.Count;
        history.Trims.Add(new TrimOp(node.Number, below.Offset, true, world.Steps, LogHistory.Never));
        await (trim?.Invoke() ?? node.Log!.TrimPrefixAsync(below).AsTask());
        history.Trims[slot] = history.Trims[slot] with { End = world.Steps };
        monitor.Mark(situation);
    }

    public async Task TrimOneAsync(SimClientNode node, LogPosition position, Func<Task> trim)
    {
        int slot = history.Trims.Count;
        history.Trims.Add(new TrimOp(node.Number, position.Offset, false, world.Steps, LogHistory.Never));
        await trim();
        history.Trims[slot] = history.Trims[slot] with { End = world.Steps };
    }
}
