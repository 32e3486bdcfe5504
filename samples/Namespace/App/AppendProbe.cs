using Corfu;

namespace NamespaceSample.App;

/// <summary>Measures durable appends with one in flight, the unit that a replay's speed is told in. The entries are in
/// no stream, so nothing that plays fetches them.</summary>
internal static class AppendProbe
{
    private const int WarmUp = 100;
    private const int Samples = 300;

    // About what a small change of a history appends.
    private const int PayloadBytes = 200;

    public static async Task<List<TimeSpan>> MeasureAsync(ICorfuLog log, CancellationToken cancellationToken)
    {
        var payload = new byte[PayloadBytes];
        var durations = new List<TimeSpan>(Samples);
        for (int i = 0; i < WarmUp + Samples; i++)
        {
            long start = TimeProvider.System.GetTimestamp();
            (await log.AppendAsync(payload, [], cancellationToken)).Require();
            if (i >= WarmUp) durations.Add(TimeProvider.System.GetElapsedTime(start));
        }

        return durations;
    }

    public static TimeSpan Median(IEnumerable<TimeSpan> durations)
    {
        TimeSpan[] sorted = [.. durations.Order()];
        return sorted[sorted.Length / 2];
    }
}
