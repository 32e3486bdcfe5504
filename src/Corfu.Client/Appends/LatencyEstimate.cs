namespace Corfu.Client;

/// <summary>
/// A running 99th percentile, by small steps up and down. Updates may race and lose one another: it is an estimate.
/// </summary>
internal sealed class LatencyEstimate(TimeSpan initial)
{
    private const double Quantile = 0.99;
    private const double Step = 0.05;
    private double _seconds = initial.TotalSeconds;

    public TimeSpan P99 => TimeSpan.FromSeconds(Volatile.Read(ref _seconds));

    public void Add(TimeSpan sample)
    {
        var current = Volatile.Read(ref _seconds);
        var up = sample.TotalSeconds > current;
        Volatile.Write(ref _seconds, Math.Max(1e-6, current * (1 + (Step * (up ? Quantile : Quantile - 1)))));
    }
}
