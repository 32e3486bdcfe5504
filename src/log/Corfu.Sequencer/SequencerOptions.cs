namespace Corfu.Sequencer;

/// <summary>Limits of one sequencer incarnation.</summary>
public sealed record SequencerOptions
{
    /// <summary>Stream tails held at once, about 60 bytes each. At the limit, streams without a grant in this epoch
    /// make room; if there are none, new streams are refused.</summary>
    public int MaxStreams { get; init; } = 4_000_000;

    /// <summary>Recent token runs whose headers are remembered for fillers.</summary>
    public int RememberedGrants { get; init; } = 1 << 16;

    /// <summary>Memory for those headers, in words of 8 bytes; a run takes one and then up to six for each of its
    /// streams.</summary>
    public int RememberedWords { get; init; } = 1 << 20;

    /// <summary>No writer gets a longer grace than this: a hole must close some day.</summary>
    public ushort MaxGraceMilliseconds { get; init; } = 1000;

    /// <summary>A grace is in force until this many more positions are granted.</summary>
    public int GraceSpan { get; init; } = 4096;

    /// <summary>All faults in one message.</summary>
    /// <exception cref="ArgumentException">An option is out of range.</exception>
    public void Validate() => OptionRules.Check(
        nameof(SequencerOptions),
        (nameof(MaxStreams), MaxStreams > 0),
        (nameof(RememberedGrants), RememberedGrants > 0),
        (nameof(RememberedWords), RememberedWords > 0),
        (nameof(GraceSpan), GraceSpan > 0));
}
