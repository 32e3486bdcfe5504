namespace Corfu.TestKit;

/// <summary>A clock that moves when told, firing what is due.</summary>
public sealed class ManualTime : TimeProvider
{
    private readonly Lock _gate = new();
    private readonly List<Timer> _timers = [];
    private long _now = TimeSpan.FromDays(1).Ticks;

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override long GetTimestamp()
    {
        lock (_gate) return _now;
    }

    public override DateTimeOffset GetUtcNow() => new(GetTimestamp(), TimeSpan.Zero);

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new Timer(this, callback, state);
        timer.Change(dueTime, period);
        lock (_gate) _timers.Add(timer);
        return timer;
    }

    /// <summary>Moves in small steps, so that periodic timers fire as often as they would.</summary>
    public void Advance(TimeSpan by)
    {
        for (var moved = TimeSpan.Zero; moved < by; moved += TimeSpan.FromMilliseconds(100))
        {
            Timer[] due;
            lock (_gate)
            {
                _now += TimeSpan.FromMilliseconds(100).Ticks;
                due = [.. _timers.Where(t => t.Due <= _now)];
            }

            foreach (var timer in due) timer.Fire();
        }
    }

    /// <summary>Moves at once, as a process sees it that was stopped: timers fire with the next advance.</summary>
    public void Jump(TimeSpan by)
    {
        lock (_gate) _now += by.Ticks;
    }

    private sealed class Timer(ManualTime time, TimerCallback callback, object? state) : ITimer
    {
        private TimeSpan _period;

        public long Due { get; private set; }

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            _period = period;
            Due = dueTime == Timeout.InfiniteTimeSpan ? long.MaxValue : time.GetTimestamp() + dueTime.Ticks;
            return true;
        }

        public void Fire()
        {
            Due = _period == Timeout.InfiniteTimeSpan ? long.MaxValue : Due + _period.Ticks;
            callback(state);
        }

        public void Dispose()
        {
            lock (time._gate) time._timers.Remove(this);
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return ValueTask.CompletedTask;
        }
    }
}
