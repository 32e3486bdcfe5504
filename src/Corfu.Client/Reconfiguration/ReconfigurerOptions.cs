using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>Times of a reconfiguration.</summary>
public sealed record ReconfigurerOptions
{
    /// <summary>How long the first survivors may take to answer a seal.</summary>
    public TimeSpan RoundTimeout { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// How long nodes may take to accept a decided projection; those that do not get it later, from the first client
    /// that meets them.
    /// </summary>
    public TimeSpan InstallTimeout { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>Pause before a unit that did not answer is asked again.</summary>
    public TimeSpan RetryDelay { get; init; } = TimeSpan.FromMilliseconds(20);

    /// <summary>Proposals lost to other reconfigurers before this one gives up.</summary>
    public int MaxRounds { get; init; } = 16;
}

/// <summary>
/// A reconfiguration is refused, or could not be finished. Whatever was sealed is taken up again by the next one.
/// </summary>
public sealed class ReconfigurationException(string message) : CorfuException(message);
