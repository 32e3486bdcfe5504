using System.Diagnostics;

namespace Corfu.Load;

/// <summary>Callers that never stop, counted in intervals of 10 ms by when their operations ended.</summary>
internal sealed class CraqTimeline : IAsyncDisposable
{
    public const int IntervalMilliseconds = 10;

    private readonly int[] _counts;
    private readonly CancellationTokenSource _stop = new();
    private readonly long _began;
    private readonly Task _running;
    private long _failed;

    /// <param name="began">The time stamp of the first interval.</param>
    /// <param name="longest">Operations later than that are not counted.</param>
    /// <param name="operation">False: it ended without its effect.</param>
    public CraqTimeline(long began, TimeSpan longest, int callers, Func<int, Task<bool>> operation)
    {
        _began = began;
        _counts = new int[(int)longest.TotalMilliseconds / IntervalMilliseconds];
        _running = Task.WhenAll(Enumerable.Range(0, callers)
            .Select(caller => Task.Run(() => CallAsync(caller, operation))));
    }

    /// <summary>Operations that ended with an error, or without their effect.</summary>
    public long Failed => Interlocked.Read(ref _failed);

    /// <summary>Whether an operation has ended well since.</summary>
    public bool HasSince(TimeSpan time) => Sum(time, Stopwatch.GetElapsedTime(_began)) > 0;

    public async Task StopAsync()
    {
        await _stop.CancelAsync();
        await _running;
    }

    /// <summary>Operations that ended between two times.</summary>
    public int Sum(TimeSpan from, TimeSpan to)
    {
        var sum = 0;
        for (var i = IndexOf(from); i < IndexOf(to); i++) sum += Volatile.Read(ref _counts[i]);
        return sum;
    }

    /// <summary>The longest time without an operation that ended well, between two times.</summary>
    public TimeSpan LongestPause(TimeSpan from, TimeSpan to) =>
        LongestPause(_counts.AsSpan(IndexOf(from), Math.Max(0, IndexOf(to) - IndexOf(from))));

    /// <summary>The longest run of intervals without anything.</summary>
    public static TimeSpan LongestPause(ReadOnlySpan<int> counts)
    {
        var (longest, current) = (0, 0);
        foreach (var count in counts) longest = Math.Max(longest, current = count == 0 ? current + 1 : 0);
        return TimeSpan.FromMilliseconds(longest * IntervalMilliseconds);
    }

    public async ValueTask DisposeAsync()
    {
        await StopAsync();
        _stop.Dispose();
    }

    private int IndexOf(TimeSpan time) =>
        Math.Clamp((int)time.TotalMilliseconds / IntervalMilliseconds, 0, _counts.Length);

    private async Task CallAsync(int caller, Func<int, Task<bool>> operation)
    {
        while (!_stop.IsCancellationRequested)
        {
            var isDone = false;
            try
            {
                isDone = await operation(caller);
            }
            catch (CorfuException)
            {
                // Counted with those that had no effect.
            }

            var index = (int)Stopwatch.GetElapsedTime(_began).TotalMilliseconds / IntervalMilliseconds;
            if (!isDone) Interlocked.Increment(ref _failed);
            else if (index < _counts.Length) Interlocked.Increment(ref _counts[index]);
        }
    }
}
