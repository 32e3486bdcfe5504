namespace Corfu.TestKit;

/// <summary>A clock that moves only when it is told to, to the next timer.</summary>
public sealed class VirtualTime : TimeProvider
{
    // In order of creation; few at a time.
    private readonly List<VirtualTimer> _timers = [];
    private long _now;

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override long GetTimestamp() => _now;

    public override DateTimeOffset GetUtcNow() => DateTimeOffset.UnixEpoch.AddTicks(_now);

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new VirtualTimer(this, callback, state);
        timer.Change(dueTime, period);
        return timer;
    }

    /// <summary>Timers fire later.</summary>
    public void Advance(TimeSpan time) => _now += time.Ticks;

    /// <summary>False: there is no timer.</summary>
    public bool FireNext()
    {
        if (_timers.MinBy(timer => timer.Due) is not { } next) return false;
        _timers.Remove(next);
        _now = Math.Max(_now, next.Due);
        next.Fire();
        return true;
    }

    private sealed class VirtualTimer(VirtualTime time, TimerCallback callback, object? state) : ITimer
    {
        public long Due { get; private set; }

        public void Fire() => callback(state);

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            time._timers.Remove(this);
            if (dueTime == Timeout.InfiniteTimeSpan) return true;
            Due = time._now + dueTime.Ticks;
            time._timers.Add(this);
            return true;
        }

        public void Dispose() => time._timers.Remove(this);

        public ValueTask DisposeAsync()
        {
            Dispose();
            return ValueTask.CompletedTask;
        }
    }
}
