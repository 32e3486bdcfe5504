namespace Corfu.Unit;

/// <summary>The contents of each segment of the log, to choose segments to delete. Under the store's lock.</summary>
internal sealed class SegmentCatalog(int segmentSize)
{
    private readonly SortedDictionary<int, SegmentContents> _segments = [];

    public long Pages { get; private set; }

    public int Count => _segments.Count;

    /// <param name="mapAddress">The address map's tail before the record was entered there.</param>
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

/// <summary>The contents of a segment of the log.</summary>
internal sealed class SegmentContents
{
    // Dead share from which on emptying pays: it writes the live rest again.
    private const double WorthEmptying = 0.5;

    public required int Index { get; init; }

    /// <summary>Addresses of its first and last record, and of the record before the first.</summary>
    public required long First { get; init; }

    public required long Before { get; init; }

    public long Last { get; set; }

    /// <summary>The address map holds the slots of this segment's records, and of later ones, from here on.</summary>
    public required long MapAddress { get; init; }

    public int Records { get; set; }

    public long Bytes { get; set; }

    /// <summary>Trimmed payloads, and pages that were moved or repaired elsewhere.</summary>
    public long DeadBytes { get; set; }

    public int Pages { get; set; }

    public long Lowest { get; set; } = long.MaxValue;

    public long Highest { get; set; } = -1;

    /// <summary>Could not be emptied; tried again when more of it is dead.</summary>
    public bool SetAside { get; set; }

    public bool IsSparse => DeadBytes >= Bytes * WorthEmptying;

    public bool IsWorthEmptying(LogPosition mark) => LiveBytes(mark) <= Bytes * (1 - WorthEmptying);

    /// <summary>An estimate: positions below the mark are assumed to be spread evenly over the range.</summary>
    public double LiveBytes(LogPosition mark)
    {
        if (Highest < mark.Offset) return 0;
        var above = mark.Offset <= Lowest ? 1.0 : (Highest + 1.0 - mark.Offset) / (Highest + 1.0 - Lowest);
        return Math.Max(0, Bytes - DeadBytes) * above;
    }

    internal const int Size = 4 + (8 * 8) + 4 + 4;

    internal SegmentContents Copy() => (SegmentContents)MemberwiseClone();

    internal void Write(ref WireWriter w)
    {
        w.Int32(Index);
        w.Int64(First);
        w.Int64(Before);
        w.Int64(Last);
        w.Int64(MapAddress);
        w.Int64(Bytes);
        w.Int64(DeadBytes);
        w.Int64(Lowest);
        w.Int64(Highest);
        w.Int32(Records);
        w.Int32(Pages);
    }

    internal static SegmentContents Read(ref WireReader r)
    {
        var read = new SegmentContents
        {
            Index = r.Int32(),
            First = r.Int64(),
            Before = r.Int64(),
            Last = r.Int64(),
            MapAddress = r.Int64(),
            Bytes = r.Int64(),
            DeadBytes = r.Int64(),
            Lowest = r.Int64(),
            Highest = r.Int64(),
            Records = r.Int32(),
            Pages = r.Int32(),
        };
        var possible =
            read is
            {
                Index: >= 0, First: >= 0, Before: >= 0, MapAddress: >= 0, Bytes: >= 0, DeadBytes: >= 0,
                Lowest: >= 0, Highest: >= -1, Records: > 0, Pages: >= 0
            }
            && read.Last >= read.First;
        return possible ? read : throw new MalformedDataException("A checkpoint names a segment that cannot be.");
    }
}
