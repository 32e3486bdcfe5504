using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>Limits of a scrub.</summary>
public sealed record ScrubOptions
{
    /// <summary>Positions compared together.</summary>
    public int Batch { get; init; } = 256;

    /// <summary>
    /// At most so many positions a second; null: as fast as it goes. Every one of them costs each of its replicas a
    /// read of the page.
    /// </summary>
    public long? PositionsPerSecond { get; init; } = 2000;

    /// <summary>A pass begins so long after the one before it began, or when that ends.</summary>
    public TimeSpan Interval { get; init; } = TimeSpan.FromDays(1);

    /// <summary>Pause after a batch that could not be compared, units being silent.</summary>
    public TimeSpan RetryDelay { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>All faults in one message.</summary>
    /// <exception cref="ArgumentException">An option is out of range.</exception>
    public void Validate() => OptionRules.Check(
        nameof(ScrubOptions),
        (nameof(Batch), Batch is > 0 and <= MessageLimits.MaxItems),
        (nameof(PositionsPerSecond), PositionsPerSecond is null or > 0),
        (nameof(Interval), Interval >= TimeSpan.Zero),
        (nameof(RetryDelay), RetryDelay > TimeSpan.Zero));
}
