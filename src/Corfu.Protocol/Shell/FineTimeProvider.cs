using System.Runtime.InteropServices;

namespace Corfu.Protocol;

/// <summary>
/// The system's time, with short timers that keep it. Those of the runtime go by a clock that the kernel moves on every few milliseconds: one of
/// 1 ms takes 4 (measured at 250 Hz). Here they are late by about a tenth of a millisecond, and by what the machine's load adds.
/// </summary>
public sealed class FineTimeProvider : TimeProvider
{
    public static readonly FineTimeProvider Instance = new();

    /// <summary>Longer timers are the runtime's, whose error matters less there.</summary>
    public static readonly TimeSpan Longest = TimeSpan.FromMilliseconds(5);

    private static readonly TimeSpan Whole = TimeSpan.FromMilliseconds(1);

    private readonly object _gate = new();

    // Guarded by _gate. By due time; a timer that was changed meanwhile is due at another time than its entry says, and the entry is void.
    private readonly PriorityQueue<FineTimer, long> _queue = new();
    private Thread? _thread;
    private long _wakesAt;

    private FineTimeProvider()
    {
    }

    /// <inheritdoc />
    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        if (dueTime <= TimeSpan.Zero || dueTime > Longest || period > TimeSpan.Zero) return base.CreateTimer(callback, state, dueTime, period);
        var timer = new FineTimer(this, callback, state);
        timer.Change(dueTime, period);
        return timer;
    }

    private void Run()
    {
        List<FineTimer> due = [];
        TimeSpan rest;
        while (true)
        {
            lock (_gate)
            {
                var now = GetTimestamp();
                while (_queue.TryPeek(out var timer, out var at) && at <= now)
                {
                    _queue.Dequeue();
                    if (timer.Due != at) continue;
                    timer.Due = long.MaxValue;
                    due.Add(timer);
                }

                rest = TimeSpan.Zero;
                if (due.Count == 0)
                {
                    _wakesAt = _queue.TryPeek(out _, out var next) ? next : long.MaxValue;
                    rest = _wakesAt == long.MaxValue ? Timeout.InfiniteTimeSpan : GetElapsedTime(now, next);
                    if (!OperatingSystem.IsLinux() && rest > TimeSpan.Zero && rest < Whole) rest = Whole;
                    if (rest < TimeSpan.Zero || rest >= Whole)
                    {
                        Monitor.Wait(_gate, (int)rest.TotalMilliseconds);
                        continue;
                    }
                }
            }

            // Monitors know whole milliseconds only. Whatever becomes due meanwhile is late by less than one.
            if (rest > TimeSpan.Zero) Sleep(rest);

            // Never here: what waits for a timer would run on this thread.
            foreach (var timer in due) ThreadPool.UnsafeQueueUserWorkItem(timer, preferLocal: false);
            due.Clear();
        }
    }

    private static void Sleep(TimeSpan time)
    {
        var request = new TimeSpec { Nanoseconds = (nint)(time.TotalMilliseconds * 1_000_000) };
        _ = NanoSleep(in request, 0);
    }

    [DllImport("libc", EntryPoint = "nanosleep")]
    private static extern int NanoSleep(in TimeSpec request, nint remaining);

    private void Schedule(FineTimer timer, TimeSpan dueTime)
    {
        lock (_gate)
        {
            timer.Due = long.MaxValue;
            if (dueTime < TimeSpan.Zero) return;
            timer.Due = GetTimestamp() + (long)Math.Ceiling(dueTime.TotalSeconds * TimestampFrequency);
            _queue.Enqueue(timer, timer.Due);
            if (_thread is null)
            {
                _thread = new Thread(Run) { IsBackground = true, Name = "Corfu timers" };
                _thread.UnsafeStart();
            }
            else if (timer.Due < _wakesAt)
            {
                Monitor.Pulse(_gate);
            }
        }
    }

    [StructLayout(LayoutKind.Sequential)]
    private struct TimeSpec
    {
        public nint Seconds;
        public nint Nanoseconds;
    }

    private sealed class FineTimer(FineTimeProvider provider, TimerCallback callback, object? state) : ITimer, IThreadPoolWorkItem
    {
        private readonly ExecutionContext? _context = ExecutionContext.Capture();
        private volatile bool _disposed;

        /// <summary>Time stamp; the largest number while it is not set. Guarded by the provider's gate.</summary>
        public long Due { get; set; } = long.MaxValue;

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            if (period > TimeSpan.Zero) throw new NotSupportedException("A fine timer runs once.");
            if (_disposed) return false;
            provider.Schedule(this, dueTime);
            return true;
        }

        public void Execute()
        {
            if (_disposed) return;
            if (_context is null) callback(state);
            else ExecutionContext.Run(_context, static timer => ((FineTimer)timer!).Call(), this);
        }

        public void Dispose()
        {
            _disposed = true;
            provider.Schedule(this, Timeout.InfiniteTimeSpan);
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return ValueTask.CompletedTask;
        }

        private void Call() => callback(state);
    }
}
