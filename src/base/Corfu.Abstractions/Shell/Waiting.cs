using System.ComponentModel;

namespace Corfu;

/// <summary>Waiting with a token on tasks that others share. <see cref="Task.WaitAsync(CancellationToken)"/> would do,
/// but resumes on the thread pool, and the simulator runs everything on one thread.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public static class Waiting
{
    public static async Task<T> WaitOrCancelAsync<T>(this Task<T> shared, CancellationToken cancellationToken)
    {
        await WaitOrCancelAsync((Task)shared, cancellationToken);
        return await shared;
    }

    public static Task WaitOrCancelAsync(this Task shared, CancellationToken cancellationToken) =>
        cancellationToken.CanBeCanceled && !shared.IsCompleted ? RaceAsync(shared, cancellationToken) : shared;

    /// <summary>The token cancels the promise itself.</summary>
    public static Task<T> OrCancelAsync<T>(this TaskCompletionSource<T> promise, CancellationToken cancellationToken)
    {
        return cancellationToken.CanBeCanceled && !promise.Task.IsCompleted ? RegisteredAsync() : promise.Task;

        async Task<T> RegisteredAsync()
        {
            await using var registration = cancellationToken.UnsafeRegister(
                static (state, token) => ((TaskCompletionSource<T>)state!).TrySetCanceled(token), promise);
            return await promise.Task;
        }
    }

    /// <summary>Ends calls whose answers are not waited for; later, because each ends with an exception.</summary>
    public static async Task CancelLaterAsync(params CancellationTokenSource[] sources)
    {
        await Task.Yield();
        sources[0].Cancel();
        foreach (var source in sources) source.Dispose();
    }

    /// <summary>For work whose result is not waited for: its failure, if any, shows elsewhere.</summary>
    public static void Abandon(this Task task)
    {
        if (!task.IsCompletedSuccessfully) _ = ObserveAsync(task);
    }

    // Task.WhenAny resumes on the thread pool if the shared task completes its continuations asynchronously.
    private static async Task RaceAsync(Task shared, CancellationToken cancellationToken)
    {
        var first = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        using var registration = cancellationToken.UnsafeRegister(
            static (state, token) => ((TaskCompletionSource)state!).TrySetCanceled(token), first);
        _ = ForwardAsync(shared, first);
        await first.Task;
    }

    private static async Task ForwardAsync(Task shared, TaskCompletionSource first)
    {
        try
        {
            await shared;
            first.TrySetResult();
        }
        catch (Exception e)
        {
            first.TrySetException(e);
        }
    }

    private static async Task ObserveAsync(Task abandoned)
    {
        try
        {
            await abandoned;
        }
        catch (Exception)
        {
            // By contract of Abandon.
        }
    }
}
