using Google.Protobuf.WellKnownTypes;

namespace Corfu.Grpc;

/// <summary>Durations of requests, checked.</summary>
internal static class Durations
{
    private static readonly TimeSpan s_shortestLife = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan s_longest = TimeSpan.FromDays(1);

    /// <returns>Null: the request has none.</returns>
    public static TimeSpan? TimeToLive(Duration? duration) => Within(duration, "time_to_live", s_shortestLife);

    /// <returns>Null: the request has none.</returns>
    public static TimeSpan? MaxWait(Duration? duration) => Within(duration, "max_wait", TimeSpan.Zero);

    public static TimeSpan? EntryTimeToLive(Duration? duration) =>
        Within(duration, "time_to_live", TimeSpan.FromMilliseconds(1));

    private static TimeSpan? Within(Duration? duration, string field, TimeSpan shortest)
    {
        if (duration is null) return null;
        // Beyond this a TimeSpan does not take it.
        var isSane = Math.Abs((double)duration.Seconds) <= s_longest.TotalSeconds
            && Math.Abs((long)duration.Nanos) < 1_000_000_000;
        var span = isSane
            ? TimeSpan.FromSeconds(duration.Seconds) + TimeSpan.FromMicroseconds(duration.Nanos / 1000)
            : TimeSpan.MaxValue;
        return span >= shortest && span <= s_longest
            ? span
            : throw new RequestException(
                $"{field}: between {shortest.TotalMilliseconds:0} milliseconds and a day.");
    }
}
