using System.Diagnostics;

namespace Corfu.Load;

/// <summary>Callers that each have one operation under way, all the time, for a while.</summary>
internal static class ClosedLoop
{
    private const int FailurePauseMilliseconds = 1;

    /// <summary>The operation gets the caller's number; an exception counts as a failure and is not timed.</summary>
    public static async Task<(LatencyHistogram Histogram, double Seconds, long Failures)> RunAsync(
        int callers, TimeSpan duration, Func<int, ValueTask> operation)
    {
        var start = Stopwatch.GetTimestamp();
        var end = start + (long)(duration.TotalSeconds * Stopwatch.Frequency);
        var results = await Task.WhenAll(Enumerable.Range(0, callers)
            .Select(caller => Task.Run(() => CallAsync(caller, end, operation))));
        var seconds = Stopwatch.GetElapsedTime(start).TotalSeconds;
        var total = new LatencyHistogram();
        foreach (var (histogram, _) in results) total.Add(histogram);
        return (total, seconds, results.Sum(result => result.Failures));
    }

    private static async Task<(LatencyHistogram Histogram, long Failures)> CallAsync(int caller, long end,
        Func<int, ValueTask> operation)
    {
        var histogram = new LatencyHistogram();
        long failures = 0;
        while (Stopwatch.GetTimestamp() is var began && began < end)
        {
            try
            {
                await operation(caller);
                histogram.Record((long)Stopwatch.GetElapsedTime(began).TotalNanoseconds);
            }
            catch (Corfu.Protocol.CorfuException)
            {
                failures++;
                await Task.Delay(FailurePauseMilliseconds);
            }
        }

        return (histogram, failures);
    }
}
