using HdrHistogram;

namespace Corfu.Load;

/// <summary>A round of one workload, all of its callers and processes together. Times are microseconds.</summary>
/// <param name="Aborted">Transactions among the operations that took no effect.</param>
internal sealed record RoundResult(long Operations, double Seconds, double P50, double P99, double P999, long Failures,
    long Aborted = 0)
{
    public double PerSecond => Operations / Seconds;

    /// <summary>Operations a second that took effect.</summary>
    public double Goodput => (Operations - Aborted) / Seconds;

    public static RoundResult Of(LongHistogram histogram, double seconds, long failures, long aborted = 0) =>
        new(histogram.TotalCount, seconds, histogram.Microseconds(50), histogram.Microseconds(99),
            histogram.Microseconds(99.9), failures, aborted);

    /// <summary>The median of each figure by itself.</summary>
    public static RoundResult Median(IReadOnlyCollection<RoundResult> rounds) => new(
        (long)Middle(rounds.Select(round => (double)round.Operations)),
        Middle(rounds.Select(round => round.Seconds)),
        Middle(rounds.Select(round => round.P50)),
        Middle(rounds.Select(round => round.P99)),
        Middle(rounds.Select(round => round.P999)),
        rounds.Sum(round => round.Failures),
        (long)Middle(rounds.Select(round => (double)round.Aborted)));

    /// <summary>The mean of the two in the middle where the number is even.</summary>
    public static double Middle(IEnumerable<double> values)
    {
        var sorted = values.Order().ToArray();
        var upper = sorted.Length / 2;
        return sorted.Length % 2 == 0 ? (sorted[upper - 1] + sorted[upper]) / 2 : sorted[upper];
    }
}
