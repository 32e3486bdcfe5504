namespace Corfu.Unit;

/// <summary>Sizes of a page store; the defaults suit a server with a disk of its own.</summary>
public sealed record PageStoreOptions
{
    internal static readonly OptionRules<PageStoreOptions> Rules = AddressMapSizes.AddRules(
            RecordLogSizes.AddRules(new OptionRules<PageStoreOptions>(new()), o => o.Log, reservedPages: 2),
            o => o.Map, nameof(MapIndexSize), nameof(MapMemory))
        .AtLeast(o => o.CheckpointRecords, 1);

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

    internal AddressMapSizes Map => new(MapIndexSize, MapMemory);
}
