namespace Salus.Store.Log;

/// <summary>Sizes of a machine's store; the defaults suit a server with a disk of its own.</summary>
public sealed record StoreOptions
{
    internal static readonly OptionRules<StoreOptions> Rules =
        RecordLogSizes.AddRules(new OptionRules<StoreOptions>(new()), o => o.Log, reservedPages: 4)
            .AtLeast(o => o.LogLimit, o => LeastSegments * (long)o.SegmentSize, nameof(LogLimit), "4 segments");

    private const int LeastSegments = 4;

    /// <summary>In-memory log page; no record is larger. Default 2 MiB, which takes any batch.</summary>
    public int LogPageSize { get; init; } = 2 << 20;

    /// <summary>Memory for what is appended and not yet written. Beyond, records get Overloaded. Default 64 MiB, at
    /// least 8 pages.</summary>
    public long LogMemory { get; init; } = 64 << 20;

    /// <summary>Size of one file of the log; space is freed in whole files. Default 64 MiB.</summary>
    public int SegmentSize { get; init; } = 64 << 20;

    /// <summary>Room that stays on a full disk: half for the records that free space, the rest for seals, marks and
    /// openings. Default 16 MiB.</summary>
    public int Reserve { get; init; } = 16 << 20;

    /// <summary>The file system counts as full when less than this, or less than a sixteenth of it, is left for
    /// checkpoint files. Default 256 MiB.</summary>
    public long Headroom { get; init; } = 256 << 20;

    /// <summary>Most recent log bytes kept for readers. Default 32 MiB.</summary>
    public int HotBytes { get; init; } = 32 << 20;

    /// <summary>Log bytes from half of which on records that are still needed are written again, so that one slow
    /// region does not keep the whole log. Default 1 GiB, at least 4 segments.</summary>
    public long LogLimit { get; init; } = 1L << 30;

    /// <summary>A sentence for each option that is out of range.</summary>
    public IEnumerable<string> Faults() => Rules.FaultsOf(this);

    internal RecordLogSizes Log => new(LogPageSize, LogMemory, SegmentSize, Reserve, Headroom, HotBytes);
}
