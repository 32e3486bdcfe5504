namespace Salus.Region;

/// <summary>Limits of a process's region servers.</summary>
public sealed record RegionServerOptions
{
    internal static readonly OptionRules<RegionServerOptions> Rules = new OptionRules<RegionServerOptions>(new())
        .AtLeast(o => o.MaxParked, 16).Above(o => o.Patience, TimeSpan.Zero)
        .Above(o => o.Tick, TimeSpan.Zero);

    /// <summary>An answer that is not known after so long is Pending, and the sender asks again. Default 2 s.</summary>
    public TimeSpan Patience { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>Interval for sending again what got no answer, and for ending waits. Default 100 ms.</summary>
    public TimeSpan Tick { get; init; } = TimeSpan.FromMilliseconds(100);

    /// <summary>A proof goes down the chain on its own when no record has brought it for so long. Default 2
    /// ms.</summary>
    public TimeSpan CommitDelay { get; init; } = TimeSpan.FromMilliseconds(2);

    /// <summary>Bytes of the store's log from which on regions are cut before they have a file's worth, so that the
    /// front of the log goes. Default 512 MiB.</summary>
    public long LogBytes { get; init; } = 512 << 20;

    /// <summary>Requests of one region that wait for something at once. Default 1,024.</summary>
    public int MaxParked { get; init; } = 1024;

    /// <summary>Bytes of batches in memory that are not committed, over all regions. Default 256 MiB.</summary>
    public long BatchMemory { get; init; } = 256 << 20;

    /// <summary>A batch is refused when a member's store would have less left than this. Default 64 MiB.</summary>
    public long SpaceMargin { get; init; } = 64 << 20;
}
