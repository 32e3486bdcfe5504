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

    /// <summary>Room that stays for seals, installs and trims when the disk is full. Pages are refused with NoSpace
    /// before they touch it. Default 8 MiB, four restarts' worth of log pages.</summary>
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

    /// <summary>All faults in one message, or null.</summary>
    internal string? Fault()
    {
        var faults = new List<string>();
        if (!IsPowerOfTwo(LogPageSize) || LogPageSize < 4096)
            faults.Add("LogPageSize must be a power of two of at least 4096");
        if (!IsPowerOfTwo(LogMemory) || LogMemory < 8L * LogPageSize)
            faults.Add("LogMemory must be a power of two of at least 8 pages");
        if (!IsPowerOfTwo(SegmentSize) || SegmentSize < LogPageSize)
            faults.Add("SegmentSize must be a power of two of at least one page");
        if (Reserve < 2 * LogPageSize) faults.Add("Reserve must be at least two pages");
        if (HotBytes < LogPageSize) faults.Add("HotBytes must be at least one page");
        if (!IsPowerOfTwo(MapIndexSize) || MapIndexSize < 4096)
            faults.Add("MapIndexSize must be a power of two of at least 4096");
        if (!IsPowerOfTwo(MapMemory) || MapMemory < 1 << 20)
            faults.Add("MapMemory must be a power of two of at least 1 MiB");
        if (CheckpointRecords < 1) faults.Add("CheckpointRecords must be positive");
        return faults.Count == 0 ? null : string.Join("; ", faults);
    }

    private static bool IsPowerOfTwo(long value) => value > 0 && (value & (value - 1)) == 0;
}
