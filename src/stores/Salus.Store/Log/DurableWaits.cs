namespace Salus.Store.Log;

/// <summary>Callers that wait until the log is durable up to somewhere.</summary>
internal sealed class DurableWaits
{
    private readonly Lock _gate = new();
    private readonly List<(long Lsn, TaskCompletionSource Done)> _waiters = [];
    private StoreFailedException? _failure;
    private long _durable;

    /// <exception cref="StoreFailedException">The log has failed.</exception>
    public Task WaitAsync(long lsn)
    {
        lock (_gate)
        {
            if (_failure is not null) return Task.FromException(_failure);
            if (_durable >= lsn) return Task.CompletedTask;
            var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            _waiters.Add((lsn, done));
            return done.Task;
        }
    }

    public void Release(long durable)
    {
        lock (_gate)
        {
            _durable = Math.Max(_durable, durable);
            for (var i = _waiters.Count - 1; i >= 0; i--)
            {
                if (_waiters[i].Lsn > _durable) continue;
                _waiters[i].Done.TrySetResult();
                _waiters.RemoveAt(i);
            }
        }
    }

    public void Fail(StoreFailedException failure)
    {
        lock (_gate)
        {
            _failure ??= failure;
            foreach (var (_, done) in _waiters) done.TrySetException(_failure);
            _waiters.Clear();
        }
    }
}
