using Corfu.Simulation.Cluster;

namespace Corfu.Simulation.Workload.Log;

/// <summary>A worker on the log: the log of its client's process, and cursors of its own.</summary>
internal sealed class LogClient(SimClientNode node)
{
    public int Number { get; } = node.Number;

    public ICorfuLog Log { get; } = node.Log!;

    public TimeProvider Time { get; } = node.Process!.Time;

    public StreamReader Streams { get; } = new(node.OpenCursor);
}
