namespace Corfu.Simulation.Kernel;

/// <summary>The virtual clock as a process sees it; wall clocks of different machines differ by their skew.</summary>
public sealed class SimTimeProvider(SimProcess process, TimeSpan skew) : TimeProvider
{
    private const int MostLooks = 100_000;

    private long _lookedIn;
    private int _looks;

    private static readonly DateTimeOffset s_origin = new(2030, 1, 1, 0, 0, 0, TimeSpan.Zero);

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override TimeZoneInfo LocalTimeZone => TimeZoneInfo.Utc;

    public override long GetTimestamp()
    {
        // Virtual time stands still within an event: code that waits for it to pass would never end.
        if (_lookedIn != process.World.Steps) (_lookedIn, _looks) = (process.World.Steps, 0);
        if (++_looks > MostLooks)
            throw new InvalidOperationException($"{process.Name} looks at the clock over and over: a busy loop");
        return process.World.Now;
    }

    public override DateTimeOffset GetUtcNow() => s_origin + TimeSpan.FromTicks(process.World.Now) + skew;

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
        => new Timer(process, callback, state, dueTime, period);

    private sealed class Timer : ITimer
    {
        private readonly SimProcess _process;
        private readonly TimerCallback _callback;
        private readonly object? _state;
        private readonly ExecutionContext? _context = ExecutionContext.Capture();
        private TimeSpan _period;
        // Every Change makes the events scheduled before it void.
        private long _generation;

        public Timer(SimProcess process, TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
        {
            _process = process;
            _callback = callback;
            _state = state;
            Change(dueTime, period);
        }

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            _period = period;
            _generation++;
            if (dueTime != Timeout.InfiniteTimeSpan)
            {
                Arm(dueTime);
            }

            return true;
        }

        public void Dispose() => _generation++;

        public ValueTask DisposeAsync()
        {
            Dispose();
            return ValueTask.CompletedTask;
        }

        private void Arm(TimeSpan due)
        {
            long generation = _generation;
            _process.World.Schedule(_process, due.Ticks, SimEventKind.Timer, () => Fire(generation));
        }

        private void Fire(long generation)
        {
            if (generation != _generation)
            {
                return;
            }

            if (_period != Timeout.InfiniteTimeSpan && _period > TimeSpan.Zero)
            {
                Arm(_period);
            }

            if (_context is null)
            {
                _callback(_state);
            }
            else
            {
                ExecutionContext.Run(_context, static s => ((Timer)s!).Call(), this);
            }
        }

        private void Call() => _callback(_state);
    }
}
