namespace Salus.Coordination;

/// <summary>Intervals and limits of an agent.</summary>
public sealed record SalusAgentOptions
{
    internal static readonly OptionRules<SalusAgentOptions> Rules = new OptionRules<SalusAgentOptions>(new())
        .AtLeast(o => o.TimeToLive, TimeSpan.FromMilliseconds(100)).Above(o => o.Interval, TimeSpan.Zero)
        .Above(o => o.ChangePause, TimeSpan.Zero).Above(o => o.ProbeLimit, TimeSpan.Zero)
        .Above(o => o.Retry, TimeSpan.Zero);

    /// <summary>Another agent acts after so long without a word from the one that does. Default 5 s.</summary>
    public TimeSpan TimeToLive { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>Interval of decisions; a change of the log brings the next one forward. Default 500 ms.</summary>
    public TimeSpan Interval { get; init; } = TimeSpan.FromMilliseconds(500);

    /// <summary>A region changes at most once in this time. Default 2 s.</summary>
    public TimeSpan ChangePause { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>A second stall of a member within this time counts without a probe. Default 1 min.</summary>
    public TimeSpan StallWindow { get; init; } = TimeSpan.FromMinutes(1);

    /// <summary>A store that was accused in this time gets regions last. Default 1 h.</summary>
    public TimeSpan AccusedFor { get; init; } = TimeSpan.FromHours(1);

    /// <summary>The stores of an ended generation seal within this time, or the agent looks why. Default 3 s.</summary>
    public TimeSpan SealLimit { get; init; } = TimeSpan.FromSeconds(3);

    /// <summary>A generation opens within this time, or the agent looks whether its members answer. Default 10
    /// s.</summary>
    public TimeSpan OpenLimit { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>A probe that takes longer counts as not answered. Default 1 s.</summary>
    public TimeSpan ProbeLimit { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>A probe, or a step that failed or was refused, is repeated after this time. Default 1 s.</summary>
    public TimeSpan Retry { get; init; } = TimeSpan.FromSeconds(1);
}
