namespace Salus.Nbd.Limits;

/// <summary>Memory of commands without a reply. A command that does not fit waits for its turn; one that is larger than
/// the budget gets all of it. Any thread.</summary>
internal sealed class ByteBudget(long limit)
{
    private readonly Lock _gate = new();

    // Guarded by _gate. _taken <= limit, or one command has it all. Those that wait come first.
    private readonly LinkedList<(long Bytes, TaskCompletionSource Granted)> _waiting = new();
    private long _taken;

    /// <exception cref="OperationCanceledException">The caller has given up, and nothing is taken.</exception>
    public ValueTask TakeAsync(long bytes, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (_waiting.Count == 0 && Fits(bytes))
            {
                _taken += bytes;
                return ValueTask.CompletedTask;
            }

            var waiter = (bytes, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously));
            return new ValueTask(WaitAsync(_waiting.AddLast(waiter), cancellationToken));
        }
    }

    public void Return(long bytes)
    {
        lock (_gate)
        {
            _taken -= bytes;
            Serve();
        }
    }

    private async Task WaitAsync(
        LinkedListNode<(long Bytes, TaskCompletionSource Granted)> waiter, CancellationToken cancellationToken)
    {
        try
        {
            await waiter.Value.Granted.Task.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            lock (_gate)
            {
                // A grant may have come in the meantime.
                if (waiter.List is null) _taken -= waiter.Value.Bytes;
                else _waiting.Remove(waiter);
                Serve();
            }

            throw;
        }
    }

    private bool Fits(long bytes) => _taken == 0 || _taken + bytes <= limit;

    private void Serve()
    {
        while (_waiting.First is { } first && Fits(first.Value.Bytes))
        {
            _taken += first.Value.Bytes;
            _waiting.Remove(first);
            first.Value.Granted.SetResult();
        }
    }
}
