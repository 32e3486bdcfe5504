namespace Corfu.Agent;

/// <summary>Times and limits of <see cref="ClusterOperations"/>.</summary>
public sealed record ClusterOperationsOptions
{
    /// <summary>How long spares and standbys may take to say that they are there; those that do not are passed
    /// over.</summary>
    public TimeSpan ProbeTimeout { get; init; } = TimeSpan.FromMilliseconds(500);

    /// <summary>How long the others may still take once one has answered.</summary>
    public TimeSpan ProbeGrace { get; init; } = TimeSpan.FromMilliseconds(5);
}
