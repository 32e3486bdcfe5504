namespace Craq.Calls;

/// <summary>The client's time, its end, and where the work runs that its callers share.</summary>
internal sealed class CallClock(TimeProvider time, LoopContext loops)
{
    private readonly CancellationTokenSource _closed = new();

    public TimeProvider Time => time;

    public LoopContext Loops => loops;

    /// <summary>Cancelled when the client is closed.</summary>
    public CancellationToken Closed => _closed.Token;

    public long GetTimestamp() => time.GetTimestamp();

    public TimeSpan GetElapsedTime(long since) => time.GetElapsedTime(since);

    /// <summary>A time stamp so far ahead.</summary>
    public long After(TimeSpan span) => time.GetTimestamp() + (long)(span.TotalSeconds * time.TimestampFrequency);

    // Timers know whole milliseconds, rounded down: less than one would be no wait, and a caller's loop a busy one.
    public Task DelayAsync(TimeSpan delay, CancellationToken cancellationToken) =>
        Task.Delay(TimeSpan.FromMilliseconds(Math.Ceiling(delay.TotalMilliseconds)), time, cancellationToken);

    public void Close() => _closed.Cancel();
}
