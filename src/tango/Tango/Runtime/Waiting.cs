namespace Tango;

/// <summary>
/// Waiting with a token on tasks that others share. <see cref="Task.WaitAsync(CancellationToken)"/> would do, but hops
/// to the thread pool when the task completes its continuations asynchronously, and the simulator runs everything on
/// one thread.
/// </summary>
internal static class Waiting
{
    public static Task WaitOrCancelAsync(this Task shared, CancellationToken cancellationToken) =>
        cancellationToken.CanBeCanceled && !shared.IsCompleted ? RaceAsync(shared, cancellationToken) : shared;

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
}
