using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>What each segment of the log holds, to choose those to delete. Under the store's lock.</summary>
internal sealed class SegmentCatalog(int segmentSize)
{
    private readonly SortedDictionary<int, SegmentContents> _segments = [];

    public long Pages { get; private set; }

    public int Count => _segments.Count;

    /// <param name="mapAddress">Where the address map stood before the record was entered there.</param>
    public void Note(in LogRecord record, long address, long previous, long mapAddress)
    {
        var index = SegmentOf(address);
        if (!_segments.TryGetValue(index, out var entry))
        {
            entry = new SegmentContents { Index = index, First = address, Before = previous, MapAddress = mapAddress };
            _segments.Add(index, entry);
        }

        entry.Last = address;
        entry.Records++;
        entry.Bytes += RecordCodec.Size(record);
        if (record.Kind is not (RecordKind.Page or RecordKind.Junk or RecordKind.Moved or RecordKind.Trim)) return;
        var position = record.Position.Offset;
        entry.Lowest = Math.Min(entry.Lowest, position);
        entry.Highest = Math.Max(entry.Highest, position);
        if (record.Kind == RecordKind.Trim) return;
        entry.Pages++;
        Pages++;
    }

    /// <summary>True when this made the segment worth emptying.</summary>
    public bool Dead(long address, int bytes, bool wholePage)
    {
        if (!_segments.TryGetValue(SegmentOf(address), out var entry)) return false;
        var before = entry.IsSparse;
        entry.DeadBytes += bytes;
        entry.SetAside = false;
        if (wholePage)
        {
            entry.Pages--;
            Pages--;
        }

        return !before && entry.IsSparse;
    }

    /// <summary>Segments without positions at or above the mark; never the newest.</summary>
    public List<SegmentContents> WhollyBelow(LogPosition mark)
    {
        var newest = Newest;
        return [.. _segments.Values.Where(s => s.Index != newest && s.Highest < mark.Offset)];
    }

    /// <summary>The segment with the fewest live bytes, if emptying it pays; never the newest.</summary>
    public SegmentContents? Sparsest(LogPosition mark)
    {
        var newest = Newest;
        return _segments.Values.Where(s => s.Index != newest && !s.SetAside && s.IsWorthEmptying(mark))
            .MinBy(s => s.LiveBytes(mark));
    }

    public SegmentContents? Oldest => _segments.Values.FirstOrDefault();

    public SegmentContents? Find(int index) => _segments.GetValueOrDefault(index);

    public SegmentContents OldestWithout(IReadOnlySet<int> going) =>
        _segments.Values.First(s => !going.Contains(s.Index));

    public void Forget(int segment)
    {
        if (_segments.Remove(segment, out var entry)) Pages -= entry.Pages;
    }

    public List<SegmentContents> Copy() => [.. _segments.Values.Select(s => s.Copy())];

    public void Restore(IEnumerable<SegmentContents> segments)
    {
        foreach (var segment in segments)
        {
            _segments[segment.Index] = segment.Copy();
            Pages += segment.Pages;
        }
    }

    public void Clear()
    {
        _segments.Clear();
        Pages = 0;
    }

    private int Newest => _segments.Count == 0 ? -1 : _segments.Last().Key;

    private int SegmentOf(long address) => (int)(address / segmentSize);
}
