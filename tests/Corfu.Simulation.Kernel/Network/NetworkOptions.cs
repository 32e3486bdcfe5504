namespace Corfu.Simulation.Kernel.Network;

/// <summary>How the simulated network behaves; times in ticks of 100 ns.</summary>
public sealed record NetworkOptions
{
    /// <summary>Least latency of one direction.</summary>
    public long MinLatency { get; init; } = 200;

    /// <summary>Mean of the exponential part of the latency: what reorders messages.</summary>
    public long Jitter { get; init; } = 150;

    public double Loss { get; init; }

    public double Duplication { get; init; }

    /// <summary>Chance of a message to be held for up to <see cref="LongDelayMax"/>.</summary>
    public double LongDelay { get; init; }

    public long LongDelayMax { get; init; } = 200_000;
}
