using Corfu;

namespace Tango;

/// <summary>Exponential pauses with full jitter, so that those who collided do not collide again in step.</summary>
internal static class Backoff
{
    private const int MaxDoublings = 20;

    public static TimeSpan Delay(int attempt, TangoOptions options, IEntropy entropy)
    {
        var ceiling = options.RetryDelay * (1L << Math.Min(attempt, MaxDoublings));
        if (ceiling > options.MaxRetryDelay) ceiling = options.MaxRetryDelay;
        return ceiling * entropy.NextDouble();
    }
}
