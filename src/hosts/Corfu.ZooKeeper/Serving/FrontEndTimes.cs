namespace Corfu.ZooKeeper.Serving;

/// <summary>Times that all front ends of a service share.</summary>
internal sealed record FrontEndTimes
{
    /// <summary>From one beat to the next.</summary>
    public TimeSpan Beat { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>Behind the sending of a confirmed beat, clients are answered for so long; an observer waits as long
    /// beyond a session's time-out.</summary>
    public TimeSpan Lease { get; init; } = TimeSpan.FromSeconds(4);

    /// <summary>From one look at the lease to the next.</summary>
    public TimeSpan Look { get; init; } = TimeSpan.FromMilliseconds(250);

    /// <summary>Time-outs of sessions: 2 to 20 ticks of 2 s.</summary>
    public TimeSpan ShortestTimeout { get; init; } = TimeSpan.FromSeconds(4);

    public TimeSpan LongestTimeout { get; init; } = TimeSpan.FromSeconds(40);
}
