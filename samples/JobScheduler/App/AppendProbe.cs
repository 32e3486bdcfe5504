using System.Collections.Immutable;
using Corfu;

namespace JobScheduler.App;

/// <summary>
/// Measures durable appends with one in flight, the unit the run's speed is told in. The entries belong to no stream:
/// no replica ever fetches them.
/// </summary>
public static class AppendProbe
{
    private const int WarmUp = 100;
    private const int Samples = 300;

    // About what a transaction of this sample appends.
    private const int PayloadBytes = 200;

    /// <summary>The durations, in the order taken.</summary>
    public static async Task<IReadOnlyList<TimeSpan>> MeasureAsync(ICorfuLog log, TimeProvider time,
        CancellationToken cancellationToken)
    {
        var payload = new byte[PayloadBytes];
        var durations = new List<TimeSpan>(Samples);
        for (int i = 0; i < WarmUp + Samples; i++)
        {
            long start = time.GetTimestamp();
            (await log.AppendAsync(payload, ImmutableArray<StreamId>.Empty, cancellationToken)).Require();
            if (i >= WarmUp)
                durations.Add(time.GetElapsedTime(start));
        }

        return durations;
    }

    public static TimeSpan Median(IEnumerable<TimeSpan> durations)
    {
        TimeSpan[] sorted = [.. durations.Order()];
        return sorted.Length == 0 ? TimeSpan.Zero : sorted[sorted.Length / 2];
    }
}
