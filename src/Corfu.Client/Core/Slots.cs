namespace Corfu.Client;

/// <summary>
/// A fixed number of places, taken in order of arrival. A semaphore's wait with a token resumes on the thread pool; this one stays where
/// the caller is.
/// </summary>
internal sealed class Slots(int count)
{
    private readonly Lock _gate = new();

    // Guarded by _gate. Nobody waits while a place is free.
    private readonly Queue<TaskCompletionSource> _waiting = new();
    private int _free = count;

    public ValueTask TakeAsync(CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        TaskCompletionSource waiter;
        lock (_gate)
        {
            if (_free > 0)
            {
                _free--;
                return ValueTask.CompletedTask;
            }

            waiter = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            _waiting.Enqueue(waiter);
        }

        return cancellationToken.CanBeCanceled ? WaitAsync(waiter, cancellationToken) : new ValueTask(waiter.Task);
    }

    public void Return()
    {
        lock (_gate)
        {
            // A waiter that has been cancelled leaves its place to the next one.
            while (_waiting.TryDequeue(out var waiter))
            {
                if (waiter.TrySetResult()) return;
            }

            _free++;
        }
    }

    private static async ValueTask WaitAsync(TaskCompletionSource waiter, CancellationToken cancellationToken)
    {
        await using var registration = cancellationToken.UnsafeRegister(
            static (w, token) => ((TaskCompletionSource)w!).TrySetCanceled(token), waiter);
        await waiter.Task;
    }
}
