namespace Corfu.Client.Layout;

/// <summary>Limits of a layout client.</summary>
public sealed record LayoutClientOptions
{
    /// <summary>More endpoints to ask when no majority of the acceptors known answers.</summary>
    public ImmutableArray<NodeEndpoint> Endpoints { get; init; } = [];

    /// <summary>How long one round of requests waits for its majority. Default 2 s.</summary>
    public TimeSpan RoundTimeout { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>Rounds that may fail (no majority, outbid) before the operation does. Default 12.</summary>
    public int MaxAttempts { get; init; } = 12;

    /// <summary>Wait after the first failed round; doubled each time, half of it jitter.</summary>
    public TimeSpan FirstBackOff { get; init; } = TimeSpan.FromMilliseconds(5);

    public TimeSpan MaxBackOff { get; init; } = TimeSpan.FromMilliseconds(500);

    /// <summary>All faults in one message.</summary>
    /// <exception cref="ArgumentException">An option is out of range.</exception>
    public void Validate() => OptionRules.Check(
        nameof(LayoutClientOptions),
        (nameof(RoundTimeout), RoundTimeout > TimeSpan.Zero),
        (nameof(MaxAttempts), MaxAttempts > 0),
        (nameof(FirstBackOff), FirstBackOff > TimeSpan.Zero),
        (nameof(MaxBackOff), MaxBackOff >= FirstBackOff));

    internal LayoutClientOptions Validated()
    {
        Validate();
        return this;
    }
}

/// <summary>No majority of acceptors answered, or others kept outbidding, for all attempts. The outcome of a proposal
/// is unknown then: it may be, or become, decided.</summary>
public sealed class LayoutUnavailableException(string message) : CorfuException(message);
