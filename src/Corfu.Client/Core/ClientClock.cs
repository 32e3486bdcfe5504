namespace Corfu.Client;

/// <summary>The client's time, and its end.</summary>
internal sealed class ClientClock(TimeProvider time)
{
    private readonly CancellationTokenSource _closed = new();

    public TimeProvider Time => time;

    /// <summary>Cancelled when the client is closed.</summary>
    public CancellationToken Closed => _closed.Token;

    public long GetTimestamp() => time.GetTimestamp();

    public TimeSpan GetElapsedTime(long since) => time.GetElapsedTime(since);

    public void Close() => _closed.Cancel();

    public void ThrowIfClosed() =>
        ObjectDisposedException.ThrowIf(_closed.IsCancellationRequested, typeof(CorfuClient));

    /// <summary>Waits for the task, at most so long; whether it has ended.</summary>
    /// <exception cref="ObjectDisposedException">The client was closed.</exception>
    public async ValueTask<bool> InTimeAsync(Task task, TimeSpan limit, CancellationToken cancellationToken)
    {
        if (task.IsCompleted) return true;
        var over = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);

        // Timers know whole milliseconds, rounded down: less than one would be no wait, and a caller's loop a busy one.
        var due = TimeSpan.FromMilliseconds(Math.Ceiling(limit.TotalMilliseconds));
        using (
            time.CreateTimer(
                static o => ((TaskCompletionSource)o!).TrySetResult(), over, due, Timeout.InfiniteTimeSpan))
        using (cancellationToken.UnsafeRegister(static o => ((TaskCompletionSource)o!).TrySetResult(), over))
        using (Closed.UnsafeRegister(static o => ((TaskCompletionSource)o!).TrySetResult(), over))
            await Task.WhenAny(task, over.Task);
        cancellationToken.ThrowIfCancellationRequested();
        ThrowIfClosed();
        return task.IsCompleted;
    }
}
