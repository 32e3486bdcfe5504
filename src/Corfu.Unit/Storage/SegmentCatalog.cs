using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>What each segment of the log holds, to know when a prefix trim has released all of it.</summary>
internal sealed class SegmentCatalog(int segmentSize)
{
    private readonly SortedDictionary<int, Entry> _segments = [];

    public long Pages { get; private set; }

    public void Note(in LogRecord record, long address)
    {
        var index = (int)(address / segmentSize);
        if (!_segments.TryGetValue(index, out var entry)) entry = new Entry(address, -1, 0);
        if (record.Kind is RecordKind.Page or RecordKind.Junk or RecordKind.Trim)
        {
            var page = record.Kind == RecordKind.Trim ? 0 : 1;
            entry = entry with { Highest = Math.Max(entry.Highest, record.Position.Offset), Pages = entry.Pages + page };
            Pages += page;
        }

        _segments[index] = entry;
    }

    /// <summary>Address of the first record of the lowest segment that holds anything at or above <paramref name="below"/>; the newest always stays.</summary>
    public long FirstAddressToKeep(LogPosition below)
    {
        var last = _segments.Last();
        foreach (var (index, entry) in _segments)
        {
            if (entry.Highest >= below.Offset || index == last.Key) return entry.First;
        }

        return last.Value.First;
    }

    public void Forget(int segment)
    {
        if (_segments.Remove(segment, out var entry)) Pages -= entry.Pages;
    }

    private readonly record struct Entry(long First, long Highest, int Pages);
}
