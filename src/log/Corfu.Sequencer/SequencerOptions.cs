namespace Corfu.Sequencer;

/// <summary>Limits of one sequencer incarnation.</summary>
public sealed record SequencerOptions
{
    internal static readonly OptionRules<SequencerOptions> Rules = new OptionRules<SequencerOptions>(new())
        .AtLeast(o => o.MaxStreams, 1)
        .AtLeast(o => o.MaxNewStreamsPerMinute, 1)
        .AtLeast(o => o.RememberedGrants, 1)
        .AtLeast(o => o.RememberedWords, 1)
        .AtLeast(o => o.GraceSpan, 1)
        .AtLeast(o => o.MaxCells, 1);

    /// <summary>Stream tails held at once, about 60 bytes each. At the limit, streams without a grant in this epoch
    /// make room; if there are none, new streams are refused. Default 4,000,000.</summary>
    public int MaxStreams { get; init; } = 4_000_000;

    /// <summary>Streams that one client's certificate may be the first to append to in a minute; more are refused with
    /// <see cref="Status.StreamLimit"/>. Default 10,000.</summary>
    public int MaxNewStreamsPerMinute { get; init; } = 10_000;

    /// <summary>Recent token runs whose headers are remembered for fillers. Default 65,536.</summary>
    public int RememberedGrants { get; init; } = 1 << 16;

    /// <summary>Memory for those headers, in words of 8 bytes; a run takes one and then up to six for each of its
    /// streams. Default 1 MiB.</summary>
    public int RememberedWords { get; init; } = 1 << 20;

    /// <summary>No writer gets a longer grace than this: a hole must close some day. Default 1,000.</summary>
    public ushort MaxGraceMilliseconds { get; init; } = 1000;

    /// <summary>A grace is in force until this many more positions are granted. Default 4,096.</summary>
    public int GraceSpan { get; init; } = 4096;

    /// <summary>Cells of streams whose newest writes are held, about 45 bytes each. At the limit the oldest writes are
    /// forgotten: a transaction that began before them is asked to look again. Default 1,048,576.</summary>
    public int MaxCells { get; init; } = 1 << 20;

    /// <summary>Whether token requests that declare their reads and writes are decided. Without it they get positions
    /// as any others, and writers decide by playback. Default true.</summary>
    public bool Decide { get; init; } = true;

    /// <summary>All faults in one message.</summary>
    /// <exception cref="ArgumentException">An option is out of range.</exception>
    public void Validate() => Rules.Check(this);
}
