namespace Corfu.Client;

/// <summary>Times of a reconfiguration.</summary>
public sealed record ReconfigurerOptions
{
    /// <summary>How long the first survivors may take to answer a seal. Default 5 s.</summary>
    public TimeSpan RoundTimeout { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>How long nodes may take to accept a decided projection; later they get it from the first client that
    /// meets them. Default 1 s.</summary>
    public TimeSpan InstallTimeout { get; init; } = TimeSpan.FromSeconds(1);
}

/// <summary>A reconfiguration is refused, or could not be finished. The next one takes up what was sealed.</summary>
public sealed class ReconfigurationException(string message) : CorfuException(message);
