namespace Corfu.Agent;

/// <summary>Limits of a scrub.</summary>
public sealed record ScrubOptions
{
    internal static readonly OptionRules<ScrubOptions> Rules = new OptionRules<ScrubOptions>(new())
        .Between(o => o.Batch, 1, MessageLimits.MaxItems)
        .AtLeast(o => o.PositionsPerSecond, 1)
        .AtLeast(o => o.Interval, TimeSpan.Zero)
        .Above(o => o.RetryDelay, TimeSpan.Zero);

    /// <summary>Positions compared together. Default 256.</summary>
    public int Batch { get; init; } = 256;

    /// <summary>Each position costs each of its replicas a read of the page. Null: as fast as it goes. Default
    /// 2,000.</summary>
    public long? PositionsPerSecond { get; init; } = 2000;

    /// <summary>From the beginning of a pass to the beginning of the next. Default 1 day.</summary>
    public TimeSpan Interval { get; init; } = TimeSpan.FromDays(1);

    /// <summary>Pause after a batch that could not be compared because units are silent. Default 5 s.</summary>
    public TimeSpan RetryDelay { get; init; } = TimeSpan.FromSeconds(5);

    /// <exception cref="ArgumentException">Names every option that is out of range.</exception>
    public void Validate() => Rules.Check(this);
}
