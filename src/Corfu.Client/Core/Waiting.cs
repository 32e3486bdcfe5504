namespace Corfu.Client;

/// <summary>
/// Waiting with a token on tasks that others share. <see cref="Task.WaitAsync(CancellationToken)"/> would do, but
/// resumes on the thread pool, and the simulator runs everything on one thread.
/// </summary>
internal static class Waiting
{
    public static async Task WaitOrCancelAsync(this Task shared, CancellationToken cancellationToken)
    {
        if (cancellationToken.CanBeCanceled && !shared.IsCompleted) await RaceAsync(shared, cancellationToken);
        await shared;
    }

    public static async Task<T> WaitOrCancelAsync<T>(this Task<T> shared, CancellationToken cancellationToken)
    {
        if (cancellationToken.CanBeCanceled && !shared.IsCompleted) await RaceAsync(shared, cancellationToken);
        return await shared;
    }

    /// <summary>For work whose result is not waited for: its failure, if any, shows elsewhere.</summary>
    public static void Abandon(this Task task)
    {
        if (!task.IsCompletedSuccessfully) _ = ObserveAsync(task);
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
        }
        catch (Exception)
        {
            // Its waiters hear it from the task itself.
        }

        first.TrySetResult();
    }
}
