namespace Craq.Storage;

/// <summary>Sizes of a node's store; the defaults suit a server with a disk of its own.</summary>
internal sealed record NodeStoreOptions
{
    internal static readonly OptionRules<NodeStoreOptions> Rules = AddressMapSizes.AddRules(
            RecordLogSizes.AddRules(new OptionRules<NodeStoreOptions>(new()), o => o.Log, reservedPages: 4),
            o => o.Index, nameof(IndexSize), nameof(IndexMemory))
        .AtLeast(o => o.CheckpointRecords, 1)
        .AtLeast(o => o.SpareSegments, 2);

    /// <summary>In-memory log page; no record is larger. Default 2 MiB, which takes values of 1 MiB.</summary>
    public int LogPageSize { get; init; } = 2 << 20;

    /// <summary>Memory for what is appended and not yet written. Beyond, writes get Overloaded. Default 32 MiB, at
    /// least 8 pages.</summary>
    public long LogMemory { get; init; } = 32 << 20;

    /// <summary>Size of one file of the log; space is freed in whole files. Default 32 MiB.</summary>
    public int SegmentSize { get; init; } = 32 << 20;

    /// <summary>Room that stays on a full disk: half for deletes, a quarter for the cleaner, the last quarter for
    /// configs, begins and marks. Default 8 MiB.</summary>
    public int Reserve { get; init; } = 8 << 20;

    /// <summary>The file system counts as full when less than this, or less than a sixteenth of it, is left for the
    /// index's overflow and checkpoints. Default 128 MiB.</summary>
    public long Headroom { get; init; } = 128 << 20;

    /// <summary>Most recent log bytes kept for readers. Default 32 MiB.</summary>
    public int HotBytes { get; init; } = 32 << 20;

    /// <summary>Hash table of the index. Default 32 MiB: about four million objects before chains grow.</summary>
    public long IndexSize { get; init; } = 32 << 20;

    /// <summary>Memory for the newest part of the index; the rest spills to a scratch file. Default 256 MiB.</summary>
    public long IndexMemory { get; init; } = 256 << 20;

    /// <summary>Records between two checkpoints of the index, which a start after a crash reads again. Default
    /// 1,000,000 or, if that is more, an eighth of the number of objects.</summary>
    public int CheckpointRecords { get; init; } = 1_000_000;

    /// <summary>Segments that the log may have beyond twice what is live before it is cleaned. Default 4.</summary>
    public int SpareSegments { get; init; } = 4;

    internal RecordLogSizes Log => new(LogPageSize, LogMemory, SegmentSize, Reserve, Headroom, HotBytes);

    internal AddressMapSizes Index => new(IndexSize, IndexMemory);
}
