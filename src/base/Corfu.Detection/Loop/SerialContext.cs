using System.Collections.Concurrent;

namespace Corfu.Detection;

/// <summary>Runs callbacks on the thread pool, one at a time and in the order in which they were posted.</summary>
internal sealed class SerialContext : SynchronizationContext, IThreadPoolWorkItem
{
    private readonly ConcurrentQueue<(SendOrPostCallback Callback, object? State)> _posted = [];

    // Callbacks posted and not yet run: the post that makes it one queues this context.
    private int _count;

    public override void Post(SendOrPostCallback d, object? state)
    {
        _posted.Enqueue((d, state));
#pragma warning disable RS0030 // Production only: the simulator gives the loop a context of its own.
        if (Interlocked.Increment(ref _count) == 1) ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
#pragma warning restore RS0030
    }

    /// <summary>Nothing waits for the loop with a blocked thread.</summary>
    public override void Send(SendOrPostCallback d, object? state) => throw new NotSupportedException();

    public override SynchronizationContext CreateCopy() => this;

    void IThreadPoolWorkItem.Execute()
    {
        var before = Current;
        SetSynchronizationContext(this);
        try
        {
            do
            {
                if (!_posted.TryDequeue(out var next)) throw new InvalidOperationException("counted and not posted");
                next.Callback(next.State);
            }
            while (Interlocked.Decrement(ref _count) > 0);
        }
        finally
        {
            SetSynchronizationContext(before);
        }
    }
}
