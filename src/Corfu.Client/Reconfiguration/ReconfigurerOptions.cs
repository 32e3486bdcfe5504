namespace Corfu.Client;

/// <summary>Times of a reconfiguration.</summary>
public sealed record ReconfigurerOptions
{
    /// <summary>How long the first survivors may take to answer a seal, and units to take the new projection.</summary>
    public TimeSpan RoundTimeout { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>Pause before a unit that did not answer is asked again.</summary>
    public TimeSpan RetryDelay { get; init; } = TimeSpan.FromMilliseconds(20);

    /// <summary>Proposals lost to other reconfigurers before this one gives up.</summary>
    public int MaxRounds { get; init; } = 16;
}
