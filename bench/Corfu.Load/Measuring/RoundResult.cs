namespace Corfu.Load;

/// <summary>One round of one workload, all of its callers and processes together. Times are microseconds.</summary>
internal sealed record RoundResult(long Operations, double Seconds, double P50, double P99, double P999, long Failures)
{
    public double PerSecond => Operations / Seconds;

    public static RoundResult Of(LatencyHistogram histogram, double seconds, long failures) => new(
        histogram.Count, seconds, histogram.Quantile(0.5) / 1000, histogram.Quantile(0.99) / 1000,
        histogram.Quantile(0.999) / 1000, failures);

    /// <summary>The median of each figure by itself.</summary>
    public static RoundResult Median(IReadOnlyCollection<RoundResult> rounds) => new(
        (long)Middle(rounds.Select(round => (double)round.Operations)),
        Middle(rounds.Select(round => round.Seconds)),
        Middle(rounds.Select(round => round.P50)),
        Middle(rounds.Select(round => round.P99)),
        Middle(rounds.Select(round => round.P999)),
        rounds.Sum(round => round.Failures));

    private static double Middle(IEnumerable<double> values)
    {
        var sorted = values.Order().ToArray();
        return sorted[sorted.Length / 2];
    }
}
