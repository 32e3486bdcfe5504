using System.Diagnostics;
using HdrHistogram;

namespace Corfu.Load;

/// <summary>Callers that each have one operation under way, all the time or at a held rate, for a while.</summary>
internal static class ClosedLoop
{
    private const int FailurePauseMilliseconds = 1;

    // A caller that is late by more does not make up for it: the rate is held, not the number of operations.
    private const int MaxLagMilliseconds = 20;

    /// <summary>The operation gets the caller's number; an exception counts as a failure and is not timed. The first
    /// one is told on the standard error.</summary>
    /// <param name="perSecond">Rate of all callers together; null: as fast as they can.</param>
    public static async Task<(LongHistogram Histogram, double Seconds, long Failures)> RunAsync(
        int callers, TimeSpan duration, Func<int, ValueTask> operation, double? perSecond = null)
    {
        var start = Stopwatch.GetTimestamp();
        var end = start + (long)(duration.TotalSeconds * Stopwatch.Frequency);
        var gap = perSecond is { } rate ? TimeSpan.FromSeconds(callers / rate) : TimeSpan.Zero;
        var results = await Task.WhenAll(Enumerable.Range(0, callers)
            .Select(caller => Task.Run(() => CallAsync(caller, start + OffsetOf(caller), end, gap, operation))));
        var seconds = Stopwatch.GetElapsedTime(start).TotalSeconds;
        var total = Latencies.Create();
        foreach (var (histogram, _, _) in results) total.Add(histogram);
        if (results.FirstOrDefault(static result => result.First is not null).First is { } first)
            await Console.Error.WriteLineAsync($"a failed operation: {first.GetType().Name}: {first.Message}");
        return (total, seconds, results.Sum(result => result.Failures));

        long OffsetOf(int caller) => (long)(gap.TotalSeconds * Stopwatch.Frequency * caller / callers);
    }

    private static async Task<(LongHistogram Histogram, long Failures, Exception? First)> CallAsync(
        int caller, long due, long end, TimeSpan gap, Func<int, ValueTask> operation)
    {
        var histogram = Latencies.Create();
        long failures = 0;
        Exception? first = null;
        while (true)
        {
            if (gap > TimeSpan.Zero) due = await NextAsync(due, gap);
            var began = Stopwatch.GetTimestamp();
            if (began >= end) return (histogram, failures, first);
            try
            {
                await operation(caller);
                histogram.RecordSince(began);
            }
            catch (Exception e) when (e is CorfuException or Tango.TangoException)
            {
                failures++;
                first ??= e;
                await Task.Delay(FailurePauseMilliseconds);
            }
        }
    }

    // Waits until it is due; the result is when the next one is.
    private static async Task<long> NextAsync(long due, TimeSpan gap)
    {
        var early = Stopwatch.GetElapsedTime(Stopwatch.GetTimestamp(), due);
        if (early.TotalMilliseconds > 1) await Task.Delay(early);
        var earliest = Stopwatch.GetTimestamp() - (MaxLagMilliseconds * Stopwatch.Frequency / 1000);
        return Math.Max(due, earliest) + (long)(gap.TotalSeconds * Stopwatch.Frequency);
    }
}
