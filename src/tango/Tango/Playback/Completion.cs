namespace Tango.Playback;

/// <summary>
/// The end of work that many wait for, each with a token of its own. A wait that is cancelled leaves nothing behind,
/// however long the work lasts. (<see cref="Task.WaitAsync(CancellationToken)"/> does the same, but hops to the thread
/// pool, and the simulator runs everything on one thread.)
/// </summary>
internal sealed class Completion
{
    private readonly Lock _gate = new();
    private readonly TaskCompletionSource _end = new(TaskCreationOptions.RunContinuationsAsynchronously);

    // Guarded by _gate. Null: it has ended.
    private LinkedList<TaskCompletionSource>? _waits = [];

    public Task WaitAsync(CancellationToken cancellationToken) =>
        cancellationToken.CanBeCanceled && !_end.Task.IsCompleted ? WaitOrCancelAsync(cancellationToken) : _end.Task;

    /// <param name="reason">Null: the work is done.</param>
    public void End(Exception? reason)
    {
        LinkedList<TaskCompletionSource>? waits;
        lock (_gate) (waits, _waits) = (_waits, null);
        foreach (var wait in waits ?? []) End(wait, reason);
        End(_end, reason);
    }

    private static void End(TaskCompletionSource wait, Exception? reason)
    {
        if (reason is null)
        {
            wait.TrySetResult();
            return;
        }

        wait.TrySetException(reason);
        // Observed here: every caller may have been cancelled.
        _ = wait.Task.Exception;
    }

    private async Task WaitOrCancelAsync(CancellationToken cancellationToken)
    {
        var wait = new LinkedListNode<TaskCompletionSource>(
            new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously));
        Task ended;
        lock (_gate)
        {
            _waits?.AddLast(wait);
            ended = _waits is null ? _end.Task : wait.Value.Task;
        }

        try
        {
            using var registration = cancellationToken.UnsafeRegister(
                static (wait, token) => ((TaskCompletionSource)wait!).TrySetCanceled(token), wait.Value);
            await ended;
        }
        finally
        {
            lock (_gate)
            {
                if (wait.List == _waits) _waits?.Remove(wait);
            }
        }
    }
}
