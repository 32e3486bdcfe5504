namespace Corfu.Register;

/// <summary>Limits of one acceptor.</summary>
public sealed record AcceptorOptions
{
    internal static readonly OptionRules<AcceptorOptions> Rules = new OptionRules<AcceptorOptions>(new())
        .AtLeast(o => o.KeptSlots, 1)
        .AtLeast(o => o.MaxOpenSlots, 1)
        .AtLeast(o => o.MaxWaiting, 1)
        .AtLeast(o => o.MaxWatchers, 1)
        .AtLeast(o => o.CompactAfter, 1)
        .AtLeast(o => o.Reserve, 0);

    /// <summary>Decided slots kept for history; a prune follows at twice as many. Default 256.</summary>
    public int KeptSlots { get; init; } = 256;

    /// <summary>Slots above the newest decided one that an acceptor votes on; farther ones are refused as Overloaded.
    /// Default 1,024.</summary>
    public int MaxOpenSlots { get; init; } = 1024;

    /// <summary>Requests that may wait for the disk at once; more are refused as Overloaded. Default 4,096.</summary>
    public int MaxWaiting { get; init; } = 4096;

    /// <summary>Connections that may wait for the next projection; at the limit the oldest is answered early. Default
    /// 4,096.</summary>
    public int MaxWatchers { get; init; } = 4096;

    /// <summary>The log is rewritten when it has grown by this many bytes since it was last, or at a prune. Default 4
    /// MiB.</summary>
    public int CompactAfter { get; init; } = 4 << 20;

    /// <summary>Bytes of disk that each of the log's two areas keeps allocated, so that votes, decisions and prunes
    /// find room on a full disk. Default 1 MiB.</summary>
    public int Reserve { get; init; } = 1 << 20;

    /// <exception cref="ArgumentException">Names every option that is out of range.</exception>
    public void Validate() => Rules.Check(this);
}
