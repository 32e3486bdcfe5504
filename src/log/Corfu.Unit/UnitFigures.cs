namespace Corfu.Unit;

/// <summary>A unit's state for gauges.</summary>
internal readonly record struct UnitFigures(long Pages, long Bytes, long Streams, long MaxStreams)
{
    public long CorruptPages { get; init; }

    public long End { get; init; }

    public long TrimMark { get; init; }

    public long Epoch { get; init; }

    public UnitHealth Health { get; init; }

    public long Waiting { get; init; }

    public long PendingReadBytes { get; init; }
}
