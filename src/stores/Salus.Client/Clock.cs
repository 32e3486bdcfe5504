namespace Salus;

internal static class Clock
{
    // Timers know whole milliseconds, rounded down: less than one would be no wait, and a loop a busy one.
    public static TimeSpan Whole(TimeSpan pause) =>
        TimeSpan.FromMilliseconds(Math.Max(1, Math.Ceiling(pause.TotalMilliseconds)));
}
