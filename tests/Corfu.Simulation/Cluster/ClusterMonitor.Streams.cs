using Corfu.Protocol;
using Corfu.Simulation.Kernel.Network;

namespace Corfu.Simulation.Cluster;

public sealed partial class ClusterMonitor
{
    // Positions of each stream, with the step at which the tail of the chain had each first.
    private readonly SortedDictionary<ulong, SortedDictionary<long, long>> _streams = [];

    /// <summary>Every stream that has had an entry, trimmed or not.</summary>
    public IEnumerable<StreamId> Streams => _streams.Keys.Select(s => new StreamId(s));

    /// <summary>An entry that the tail of its chain has stored is in the log, and so in its streams.</summary>
    private void NoteStreams(MessageInfo message, FrameHeader header, LogEntry entry)
    {
        if (entry.IsJunk || !TryChain(entry.Position.Offset, header.Epoch.Value, out Chain chain)
            || chain.Tail != message.Node) return;
        foreach (StreamHeader stream in entry.Streams)
        {
            if (!_streams.TryGetValue(stream.Stream.Value, out SortedDictionary<long, long>? positions))
                _streams.Add(stream.Stream.Value, positions = []);
            positions.TryAdd(entry.Position.Offset, world.Steps);
        }
    }

    /// <summary>
    /// R22: a tail names its stream's newest entries, trimmed or not; else a stream that was trimmed passes for one
    /// that never was.
    /// </summary>
    /// <param name="asked">Entries that were in the log at this step must be known.</param>
    public void CompareTail(StreamTail tail, long asked)
    {
        if (!_streams.TryGetValue(tail.Stream.Value, out SortedDictionary<long, long>? known)) return;
        bool isFull = tail.Positions.Length == StreamHeader.MaxBackpointers;
        foreach ((long position, long since) in known)
        {
            if (since >= asked || tail.Positions.Any(p => p.Offset == position)
                || (isFull && position < tail.Positions[^1].Offset)) continue;
            Report(CheckerNames.StreamTails,
                $"the tail of stream {tail.Stream} is [{string.Join(",", tail.Positions.Select(p => p.Offset))}] and "
                + $"lacks {position}");
        }
    }
}
