namespace Salus.Region.Scrub;

/// <summary>Speed of the search for damage.</summary>
public sealed record ScrubOptions
{
    internal static readonly OptionRules<ScrubOptions> Rules = new OptionRules<ScrubOptions>(new())
        .AtLeast(o => o.BytesPerSecond, 0).Above(o => o.Pause, TimeSpan.Zero).Above(o => o.CallLimit, TimeSpan.Zero);

    /// <summary>Bytes of files that are read in a second, and as many of the log, so that users keep the disk. 0:
    /// nothing is searched, and what readers find damaged is mended alone. Default 8 MiB.</summary>
    public long BytesPerSecond { get; init; } = 8 << 20;

    /// <summary>Pause before a file or a record that no peer has given is asked for again, and between two rounds over
    /// all of them. Default 1 minute.</summary>
    public TimeSpan Pause { get; init; } = TimeSpan.FromMinutes(1);

    /// <summary>Limit of one call to a peer. Default 5 s.</summary>
    public TimeSpan CallLimit { get; init; } = TimeSpan.FromSeconds(5);
}
