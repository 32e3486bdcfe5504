namespace Corfu.Unit;

/// <summary>How to run one unit.</summary>
public sealed record UnitNodeOptions
{
    internal static readonly OptionRules<UnitNodeOptions> Rules = new OptionRules<UnitNodeOptions>(new())
        .Must(o => o.MaxPayload, o => o.MaxPayload > 0 && o.MaxPayload <= o.Store.LogPageSize / 2,
            "1 to half of Store.LogPageSize")
        .AtLeast(o => o.MaxStreams, 1)
        .AtLeast(o => o.Handler.MaxWaitingAnswers, 1)
        .AtLeast(o => o.Handler.MaxPendingReads, 1)
        .Include(o => o.Store, PageStoreOptions.Rules);

    /// <summary>The data folder; formatted if it is empty or missing.</summary>
    public string Folder { get; init; } = "";

    /// <summary>The unit has served before: a missing or empty folder is an error, never formatted again. Default
    /// false.</summary>
    public bool MustExist { get; init; }

    /// <summary>The unit's identity, where the host keeps it; none draws one when the folder is formatted.</summary>
    public NodeId Id { get; init; }

    /// <summary>The unit installs projections of this cluster only. None where the folder says it.</summary>
    public ClusterId Cluster { get; init; }

    /// <summary>Larger payloads are refused. Default 1 MiB.</summary>
    public int MaxPayload { get; init; } = EntryLimits.DefaultMaxPayload;

    /// <summary>Streams that the unit keeps tails of, at about 150 bytes of memory each; an append that would add
    /// another gets <see cref="Status.NoSpace"/>. Default 4,000,000.</summary>
    public int MaxStreams { get; init; } = UnitCoreOptions.DefaultMaxStreams;

    public PageStoreOptions Store { get; init; } = new();

    public UnitHandlerOptions Handler { get; init; } = new();

    /// <summary>All faults in one message.</summary>
    /// <exception cref="ArgumentException">An option is out of range.</exception>
    public void Validate() => Rules.Check(this);
}

/// <summary>Limits of a unit's request handling; requests beyond them get <see cref="Status.Overloaded"/>.</summary>
public sealed record UnitHandlerOptions
{
    /// <summary>Answers that wait for durability at once. Default 65,536.</summary>
    public int MaxWaitingAnswers { get; init; } = 65536;

    /// <summary>Reads that wait for the disk at once. Default 4,096.</summary>
    public int MaxPendingReads { get; init; } = 4096;

    /// <summary>Bytes of pages that these reads hold at once; a single read is always admitted. Default 64
    /// MiB.</summary>
    public long MaxPendingReadBytes { get; init; } = 64 << 20;
}
