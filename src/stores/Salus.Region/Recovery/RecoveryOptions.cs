namespace Salus.Region.Recovery;

/// <summary>Times of recoveries.</summary>
public sealed record RecoveryOptions
{
    internal static readonly OptionRules<RecoveryOptions> Rules = new OptionRules<RecoveryOptions>(new())
        .Above(o => o.GonePatience, TimeSpan.Zero).Above(o => o.Patience, TimeSpan.Zero)
        .Above(o => o.LongPatience, TimeSpan.Zero).Above(o => o.CallLimit, TimeSpan.Zero)
        .Above(o => o.Pause, TimeSpan.Zero);

    /// <summary>Wait for a store that does not answer, while a writer is there to notice what is missing. Default
    /// 3 s.</summary>
    public TimeSpan Patience { get; init; } = TimeSpan.FromSeconds(3);

    /// <summary>As <see cref="Patience"/>, for a store whose process is gone. Default 1 s.</summary>
    public TimeSpan GonePatience { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>Wait for a store that does not answer where no writer is there, or where the others prove that
    /// something is missing. Default 30 s.</summary>
    public TimeSpan LongPatience { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>Limit of one call. Default 2 s.</summary>
    public TimeSpan CallLimit { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>Pause before something is tried again. Default 100 ms.</summary>
    public TimeSpan Pause { get; init; } = TimeSpan.FromMilliseconds(100);
}
