namespace Corfu.Unit;

/// <summary>Waits for the first record of a run, before anybody else listens to the store.</summary>
internal sealed class OpenWait(long lsn) : IStoreObserver
{
    private readonly TaskCompletionSource _done = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public void OnDurable(long durable)
    {
        if (durable >= lsn) _done.TrySetResult();
    }

    public void OnFailed(Exception error) => _done.TrySetException(error);

    public void Wait() => _done.Task.GetAwaiter().GetResult();
}
