namespace Corfu.Layout;

/// <summary>Limits of one acceptor.</summary>
public sealed record AcceptorOptions
{
    /// <summary>Decided slots kept for history; a prune follows at twice as many.</summary>
    public int KeptSlots { get; init; } = 256;

    /// <summary>Slots above the newest decided one that an acceptor votes on; farther ones are refused as
    /// Overloaded.</summary>
    public int MaxOpenSlots { get; init; } = 1024;

    /// <summary>Requests that may wait for the disk at once; more are refused as Overloaded.</summary>
    public int MaxWaiting { get; init; } = 4096;

    /// <summary>Connections that may wait for the next projection; at the limit the oldest is answered early.</summary>
    public int MaxWatchers { get; init; } = 4096;

    /// <summary>The log is rewritten when it has grown by this many bytes since it was last, or at a prune.</summary>
    public int CompactAfter { get; init; } = 4 << 20;

    /// <summary>Bytes of disk that each of the log's two areas keeps allocated, so that votes, decisions and prunes
    /// find room on a full disk. Default 1 MiB.</summary>
    public int Reserve { get; init; } = 1 << 20;

    /// <exception cref="ArgumentException">Names every option that is out of range.</exception>
    public void Validate() => OptionRules.Check(
        nameof(AcceptorOptions),
        (nameof(KeptSlots), KeptSlots > 0),
        (nameof(MaxOpenSlots), MaxOpenSlots > 0),
        (nameof(MaxWaiting), MaxWaiting > 0),
        (nameof(MaxWatchers), MaxWatchers > 0),
        (nameof(CompactAfter), CompactAfter > 0),
        (nameof(Reserve), Reserve >= 0));
}
