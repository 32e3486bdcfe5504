using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>What one segment of the log holds.</summary>
internal sealed class SegmentContents
{
    // Emptying writes the live half again: worth it from here on.
    private const double WorthEmptying = 0.5;

    public required int Index { get; init; }

    /// <summary>Addresses of its first and last record, and of the record before the first.</summary>
    public required long First { get; init; }

    public required long Before { get; init; }

    public long Last { get; set; }

    /// <summary>Every slot that a record from here on governs was entered in the address map here or behind.</summary>
    public required long MapAddress { get; init; }

    public int Records { get; set; }

    public long Bytes { get; set; }

    /// <summary>Trimmed payloads, and records that stand elsewhere too.</summary>
    public long DeadBytes { get; set; }

    public int Pages { get; set; }

    public long Lowest { get; set; } = long.MaxValue;

    public long Highest { get; set; } = -1;

    /// <summary>Holds something damaged that cannot be written again; tried once more when something in it
    /// changes.</summary>
    public bool SetAside { get; set; }

    public bool IsSparse => DeadBytes >= Bytes * WorthEmptying;

    public bool IsWorthEmptying(LogPosition mark) => LiveBytes(mark) <= Bytes * (1 - WorthEmptying);

    /// <summary>An estimate: positions below the mark are taken to be spread evenly over the range.</summary>
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

    /// <exception cref="MalformedDataException">No segment can be so.</exception>
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
