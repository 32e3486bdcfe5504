namespace Corfu.Client;

/// <summary>The client's time, its end, and where the work runs that its callers share.</summary>
internal sealed class ClientClock(TimeProvider time, LoopContext loops)
{
    private readonly CancellationTokenSource _closed = new();

    public TimeProvider Time => time;

    /// <summary>Starts the work that several callers share: no one caller's context may hold up the others.</summary>
    public LoopContext Loops => loops;

    /// <summary>Cancelled when the client is closed.</summary>
    public CancellationToken Closed => _closed.Token;

    public long GetTimestamp() => time.GetTimestamp();

    public TimeSpan GetElapsedTime(long since) => time.GetElapsedTime(since);

    public void Close() => _closed.Cancel();

    public void ThrowIfClosed()
    {
        // CorfuClient and ClusterClient share one clock, and end with it.
        if (_closed.IsCancellationRequested) throw new ObjectDisposedException("The client of the log");
    }

    /// <summary>Waits for a call, at most so long; whether it has ended. It ends with the client by itself.</summary>
    public async ValueTask<bool> InTimeAsync(Task call, TimeSpan limit)
    {
        if (call.IsCompleted) return true;
        var over = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        using (Start(limit, over)) await Task.WhenAny(call, over.Task);
        return call.IsCompleted;
    }

    /// <summary>Returns after the delay, or when <paramref name="early"/> completes.</summary>
    /// <exception cref="ObjectDisposedException">The client was closed.</exception>
    public async ValueTask DelayAsync(TimeSpan delay, Task early, CancellationToken cancellationToken)
    {
        if (early.IsCompleted) return;
        var over = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        using (Start(delay, over))
        using (cancellationToken.UnsafeRegister(static o => ((TaskCompletionSource)o!).TrySetResult(), over))
        using (Closed.UnsafeRegister(static o => ((TaskCompletionSource)o!).TrySetResult(), over))
            await Task.WhenAny(early, over.Task);
        cancellationToken.ThrowIfCancellationRequested();
        ThrowIfClosed();
    }

    // Timers know whole milliseconds, rounded down: less than one would be no wait, and a caller's loop a busy one.
    private ITimer Start(TimeSpan limit, TaskCompletionSource over) => time.CreateTimer(
        static o => ((TaskCompletionSource)o!).TrySetResult(), over,
        TimeSpan.FromMilliseconds(Math.Ceiling(limit.TotalMilliseconds)), Timeout.InfiniteTimeSpan);
}
