namespace Corfu.TestKit;

/// <summary>
/// A clock that moves only with its timers: each wait is over at once, and the clock then shows the moment that was
/// waited for. A caller that asks for the time more often than <paramref name="most"/> waits for nothing: an error.
/// </summary>
public sealed class JumpingTime(int most = int.MaxValue) : TimeProvider
{
    private long _now;
    private int _asked;

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override long GetTimestamp() =>
        Interlocked.Increment(ref _asked) <= most
            ? Volatile.Read(ref _now)
            : throw new InvalidOperationException($"the time was asked for {most} times and does not pass");

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        if (dueTime == Timeout.InfiniteTimeSpan) return System.CreateTimer(callback, state, dueTime, period);
        return System.CreateTimer(
            own =>
            {
                Interlocked.Add(ref _now, dueTime.Ticks);
                callback(own);
            },
            state,
            TimeSpan.Zero,
            Timeout.InfiniteTimeSpan);
    }
}
