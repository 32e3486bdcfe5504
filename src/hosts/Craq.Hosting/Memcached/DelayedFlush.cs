namespace Craq.Hosting.Memcached;

/// <summary>Clears a keyspace after a delay. A restart of the process forgets it.</summary>
internal sealed class DelayedFlush(ObjectStore objects, TimeProvider time, ILogger logger) : IDisposable
{
    private readonly CancellationTokenSource _stop = new();

    // The flush that waits; as in memcached a newer one takes its place.
    private ITimer? _flush;

    public void Start(TimeSpan delay)
    {
        var timer = time.CreateTimer(_ => LoopContext.Pool.Start(FlushAsync), null, Timeout.InfiniteTimeSpan,
            Timeout.InfiniteTimeSpan);
        Interlocked.Exchange(ref _flush, timer)?.Dispose();
        // A timer knows some 49 days; a longer delay is cut to it.
        timer.Change(delay.TotalMilliseconds < uint.MaxValue - 1 ? delay : TimeSpan.FromDays(49),
            Timeout.InfiniteTimeSpan);
    }

    public void Dispose()
    {
        _flush?.Dispose();
        _stop.Cancel();
        _stop.Dispose();
    }

    private async Task FlushAsync()
    {
        try
        {
            var result = await objects.ClearAsync(_stop.Token);
            if (!result.IsWritten) MemcachedLog.NotFlushed(logger, "the outcome is unknown");
        }
        catch (Exception e) when (e is CorfuException or OperationCanceledException or ObjectDisposedException)
        {
            MemcachedLog.NotFlushed(logger, e.Message);
        }
    }
}
