namespace Corfu.Storage;

/// <summary>Sizes of a log of records, in bytes. Page, memory and segment are powers of two.</summary>
/// <param name="Page">The log's in-memory page; no record is larger.</param>
/// <param name="Memory">For what is appended and not yet written; at least 8 pages.</param>
/// <param name="Segment">Size of one file of the log; at least a page.</param>
/// <param name="Reserve">Room that stays on a full disk for the records that must be written even then.</param>
/// <param name="Headroom">The file system counts as full when less than this, or less than a sixteenth of it, is
/// left.</param>
/// <param name="Hot">The newest bytes, kept in memory for readers.</param>
public readonly record struct RecordLogSizes(int Page, long Memory, int Segment, int Reserve, long Headroom, int Hot)
{
    /// <summary>Adds the rules of a store's options for its log: LogPageSize, LogMemory, SegmentSize, Reserve and
    /// HotBytes.</summary>
    /// <param name="sizes">The sizes that the options give.</param>
    /// <param name="reservedPages">The smallest reserve, in pages.</param>
    public static OptionRules<TOptions> AddRules<TOptions>(OptionRules<TOptions> rules,
        Func<TOptions, RecordLogSizes> sizes, int reservedPages)
        where TOptions : class => rules
        .Must(o => sizes(o).Page, o => int.IsPow2(sizes(o).Page) && sizes(o).Page >= 4096,
            "a power of two of at least 4,096", "LogPageSize")
        .Must(o => sizes(o).Memory, o => long.IsPow2(sizes(o).Memory) && sizes(o).Memory >= 8L * sizes(o).Page,
            "a power of two of at least 8 pages", "LogMemory")
        .Must(o => sizes(o).Segment, o => int.IsPow2(sizes(o).Segment) && sizes(o).Segment >= sizes(o).Page,
            "a power of two of at least a page", "SegmentSize")
        .Must(o => sizes(o).Reserve, o => sizes(o).Reserve >= (long)reservedPages * sizes(o).Page,
            $"at least {reservedPages} pages", "Reserve")
        .AtLeast(o => sizes(o).Hot, o => sizes(o).Page, "HotBytes", "LogPageSize");
}
