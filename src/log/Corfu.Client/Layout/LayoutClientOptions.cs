namespace Corfu.Client.Layout;

/// <summary>Limits of a layout client.</summary>
public sealed record LayoutClientOptions
{
    internal static readonly OptionRules<LayoutClientOptions> Rules = new OptionRules<LayoutClientOptions>(new())
        .Above(o => o.RoundTimeout, TimeSpan.Zero)
        .AtLeast(o => o.MaxAttempts, 1)
        .Above(o => o.FirstBackOff, TimeSpan.Zero)
        .AtLeast(o => o.MaxBackOff, o => o.FirstBackOff);

    /// <summary>More endpoints to ask when no majority of the acceptors known answers.</summary>
    public ImmutableArray<NodeEndpoint> Endpoints { get; init; } = [];

    /// <summary>How long one round of requests waits for its majority. Default 2 s.</summary>
    public TimeSpan RoundTimeout { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>Rounds that may fail (no majority, outbid) before the operation does. Default 12.</summary>
    public int MaxAttempts { get; init; } = 12;

    /// <summary>Wait after the first failed round; doubled each time, half of it jitter. Default 5 ms.</summary>
    public TimeSpan FirstBackOff { get; init; } = TimeSpan.FromMilliseconds(5);

    /// <summary>Default 500 ms; at least <see cref="FirstBackOff"/>.</summary>
    public TimeSpan MaxBackOff { get; init; } = TimeSpan.FromMilliseconds(500);

    /// <summary>All faults in one message.</summary>
    /// <exception cref="ArgumentException">An option is out of range.</exception>
    public void Validate() => Rules.Check(this);

    internal LayoutClientOptions Validated()
    {
        Validate();
        return this;
    }
}

/// <summary>No majority of acceptors answered, or others kept outbidding, for all attempts. The outcome of a proposal
/// is unknown then: it may be, or become, decided.</summary>
public sealed class LayoutUnavailableException(string message) : CorfuException(message);
