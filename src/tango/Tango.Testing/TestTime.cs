namespace Tango.Testing;

/// <summary>A clock that a test moves: time stands still, and no timer fires, until <see cref="Advance"/>. Safe for
/// concurrent use.</summary>
public sealed class TestTime : TimeProvider
{
    private static readonly DateTimeOffset s_start = new(2000, 1, 1, 0, 0, 0, TimeSpan.Zero);

    // Yields to the caller's scheduler in each step.
    private const int Turns = 32;

    // Looks at the thread pool in each step, bounded: work of others there may never end.
    private const int MostLooks = 20;
    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(1);

    private readonly Lock _gate = new();

    // Guarded by _gate. In order of creation: what is due at the same time fires in that order.
    private readonly List<Alarm> _set = [];
    private TimeSpan _now;

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override TimeZoneInfo LocalTimeZone => TimeZoneInfo.Utc;

    private TimeSpan Now
    {
        get
        {
            lock (_gate) return _now;
        }
    }

    public override long GetTimestamp() => Now.Ticks;

    public override DateTimeOffset GetUtcNow() => s_start + Now;

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var alarm = new Alarm(this, callback, state);
        alarm.Change(dueTime, period);
        return alarm;
    }

    /// <summary>Moves the clock, and fires the timers that come due on the way, each at its time, on this
    /// thread.</summary>
    public void Advance(TimeSpan time)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(time, TimeSpan.Zero);
        Move(time);
    }

    /// <summary>Moves the clock step by step until the task has completed; what it throws is thrown. Between two steps
    /// the process does what the timers have started.</summary>
    /// <param name="step">Default: 10 milliseconds. Choose it well below the shortest time to live that must not
    /// run out meanwhile.</param>
    public async Task AdvanceUntilAsync(Task task, TimeSpan? step = null)
    {
        var hasStarted = true;
        while (!task.IsCompleted)
        {
            for (var i = 0; i < Turns && !task.IsCompleted; i++) await Task.Yield();
            for (var i = 0; hasStarted && i < MostLooks && !task.IsCompleted && !IsPoolIdle(); i++)
                await Task.Delay(s_pause, TimeProvider.System);
            if (!task.IsCompleted) hasStarted = Move(step ?? TimeSpan.FromMilliseconds(10));
        }

        await task;
    }

    /// <returns>Whether a timer has fired.</returns>
    private bool Move(TimeSpan time)
    {
        var end = Now + time;
        var hasFired = false;
        while (TakeDue(end) is { } due)
        {
            due.Fire();
            hasFired = true;
        }

        return hasFired;
    }

    /// <summary>No work waits or runs in the thread pool, but for the caller's.</summary>
    private static bool IsPoolIdle()
    {
#pragma warning disable RS0030 // The pool is looked at and given nothing to do.
        ThreadPool.GetMaxThreads(out var most, out _);
        ThreadPool.GetAvailableThreads(out var free, out _);
        var own = Thread.CurrentThread.IsThreadPoolThread ? 1 : 0;
        return ThreadPool.PendingWorkItemCount == 0 && most - free <= own;
#pragma warning restore RS0030
    }

    private Alarm? TakeDue(TimeSpan end)
    {
        lock (_gate)
        {
            if (_set.MinBy(alarm => alarm.Due) is not { } next || next.Due > end)
            {
                if (end > _now) _now = end;
                return null;
            }

            if (next.Due > _now) _now = next.Due;
            _set.Remove(next);
            if (next.Period > TimeSpan.Zero) Set(next, next.Period);
            return next;
        }
    }

    private void Set(Alarm alarm, TimeSpan dueTime)
    {
        alarm.Due = _now + dueTime;
        _set.Add(alarm);
    }

    private sealed class Alarm(TestTime time, TimerCallback callback, object? state) : ITimer
    {
        public TimeSpan Due { get; set; }

        public TimeSpan Period { get; private set; }

        public void Fire() => callback(state);

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            lock (time._gate)
            {
                time._set.Remove(this);
                Period = period;
                if (dueTime != Timeout.InfiniteTimeSpan) time.Set(this, dueTime);
            }

            return true;
        }

        public void Dispose() => Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);

        public ValueTask DisposeAsync()
        {
            Dispose();
            return ValueTask.CompletedTask;
        }
    }
}
