using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Workload.Log;

/// <summary>Notes what reads and fills show of a position.</summary>
internal sealed class PageNotes(World world, LogHistory history, ClusterMonitor monitor)
{
    /// <param name="start">The step in which the call began.</param>
    public void Add(int client, long start, LogReadResult result, ReadDetail detail)
    {
        long payload = 0;
        SeenKind kind = result.State switch
        {
            PageState.Unwritten => SeenKind.Unwritten,
            PageState.Data => SeenKind.Data,
            PageState.Junk => SeenKind.Junk,
            PageState.Trimmed => SeenKind.Trimmed,
            _ => throw new InvalidOperationException($"{result.Position} was answered as {result.State}"),
        };
        if (kind is SeenKind.Data or SeenKind.Junk) monitor.Shown(result.Position);
        if (kind == SeenKind.Trimmed) monitor.ShownTrimmed(result.Position);
        if (kind == SeenKind.Data)
        {
            // Only the headers were asked for: the value is not known, the kind is.
            if (detail != ReadDetail.Full) return;
            payload = LogPayload.NumberOf(result.Entry!.Payload.Span);
        }

        history.Reads.Add(new ReadOp(client, result.Position.Offset, start, world.Steps, kind, payload));
    }
}
