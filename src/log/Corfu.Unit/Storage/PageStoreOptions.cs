namespace Corfu.Unit;

/// <summary>Sizes of a page store; the defaults suit a server with a disk of its own.</summary>
public sealed record PageStoreOptions
{
    /// <summary>In-memory log page; no record is larger. Default 2 MiB, which takes entries of 1 MiB with all their
    /// headers.</summary>
    public int LogPageSize { get; init; } = 2 << 20;

    /// <summary>Memory for what is appended and not yet written. Beyond, writes get Overloaded. Default 32 MiB, at
    /// least 8 pages.</summary>
    public long LogMemory { get; init; } = 32 << 20;

    /// <summary>Size of one file of the log; trimmed space is freed in whole files. Default 32 MiB.</summary>
    public int SegmentSize { get; init; } = 32 << 20;

    /// <summary>Room that stays for seals, installs, trims and fills when the disk is full. Pages are refused with
    /// NoSpace before they touch it. Default 8 MiB, four restarts' worth of log pages.</summary>
    public int Reserve { get; init; } = 8 << 20;

    /// <summary>The file system counts as full when less than this, or less than a sixteenth of it, is left for the
    /// address map's overflow and checkpoints. Default 128 MiB.</summary>
    public long Headroom { get; init; } = 128 << 20;

    /// <summary>Most recent log bytes kept for readers at the tail. Default 8 MiB.</summary>
    public int HotBytes { get; init; } = 8 << 20;

    /// <summary>Hash index of the address map. Default 16 MiB: about two million positions before chains
    /// grow.</summary>
    public long MapIndexSize { get; init; } = 16 << 20;

    /// <summary>Memory for the newest part of the address map; the rest spills to a scratch file. Default 64
    /// MiB.</summary>
    public long MapMemory { get; init; } = 64 << 20;

    /// <summary>Records between two checkpoints of the map, which a start after a crash reads again. Default 1,000,000
    /// or, if that is more, an eighth of the number of pages.</summary>
    public int CheckpointRecords { get; init; } = 1_000_000;

    internal RecordLogSizes Log => new(LogPageSize, LogMemory, SegmentSize, Reserve, Headroom, HotBytes);

    /// <summary>All faults in one message, or null.</summary>
    internal string? Fault()
    {
        (bool Holds, string What)[] rules =
        [
            (IsPowerOfTwo(LogPageSize) && LogPageSize >= 4096, "LogPageSize must be a power of two of at least 4096"),
            (IsPowerOfTwo(LogMemory) && LogMemory >= 8L * LogPageSize,
                "LogMemory must be a power of two of at least 8 pages"),
            (IsPowerOfTwo(SegmentSize) && SegmentSize >= LogPageSize,
                "SegmentSize must be a power of two of at least one page"),
            (Reserve >= 2 * LogPageSize, "Reserve must be at least two pages"),
            (HotBytes >= LogPageSize, "HotBytes must be at least one page"),
            (IsPowerOfTwo(MapIndexSize) && MapIndexSize >= 4096,
                "MapIndexSize must be a power of two of at least 4096"),
            (IsPowerOfTwo(MapMemory) && MapMemory >= 1 << 20, "MapMemory must be a power of two of at least 1 MiB"),
            (CheckpointRecords >= 1, "CheckpointRecords must be positive"),
        ];
        var faults = string.Join("; ", rules.Where(r => !r.Holds).Select(r => r.What));
        return faults.Length == 0 ? null : faults;
    }

    private static bool IsPowerOfTwo(long value) => value > 0 && (value & (value - 1)) == 0;
}
