namespace Corfu.Agent;

/// <summary>Limits of a scrub.</summary>
public sealed record ScrubOptions
{
    /// <summary>Positions compared together.</summary>
    public int Batch { get; init; } = 256;

    /// <summary>Each position costs each of its replicas a read of the page. Null: as fast as it goes.</summary>
    public long? PositionsPerSecond { get; init; } = 2000;

    /// <summary>From the beginning of a pass to the beginning of the next.</summary>
    public TimeSpan Interval { get; init; } = TimeSpan.FromDays(1);

    /// <summary>Pause after a batch that could not be compared because units are silent.</summary>
    public TimeSpan RetryDelay { get; init; } = TimeSpan.FromSeconds(5);

    /// <exception cref="ArgumentException">Names every option that is out of range.</exception>
    public void Validate() => OptionRules.Check(
        nameof(ScrubOptions),
        (nameof(Batch), Batch is > 0 and <= MessageLimits.MaxItems),
        (nameof(PositionsPerSecond), PositionsPerSecond is null or > 0),
        (nameof(Interval), Interval >= TimeSpan.Zero),
        (nameof(RetryDelay), RetryDelay > TimeSpan.Zero));
}
