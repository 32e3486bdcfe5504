namespace Tango.Calls;

/// <summary>Lets a caller's token end the wait for a shared entry without ending the entry.</summary>
internal static class CallWaiter
{
    public static ValueTask<T> WaitAsync<T>(PendingCall call, Task<T> done, CancellationToken cancellationToken) =>
        cancellationToken.CanBeCanceled && !done.IsCompleted
            ? WaitCancellableAsync(call, done, cancellationToken)
            : new ValueTask<T>(done);

    private static async ValueTask<T> WaitCancellableAsync<T>(PendingCall call, Task<T> done,
        CancellationToken cancellationToken)
    {
        using var registration = cancellationToken.UnsafeRegister(
            static (state, token) => ((PendingCall)state!).Cancel(token), call);
        return await done;
    }
}
