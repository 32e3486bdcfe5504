namespace Craq.Hosting.Memcached;

/// <summary>The objects behind a listener, and what is to happen to them later.</summary>
/// <param name="objects">As the listener reads them.</param>
internal sealed class MemcachedStore(ObjectStore objects, TimeProvider time, ILogger logger) : IDisposable
{
    private readonly CancellationTokenSource _stop = new();

    // The flush that waits; as in memcached a newer one takes its place.
    private ITimer? _flush;

    public ObjectStore Objects => objects;

    /// <summary>Clears the keyspace after a delay. A restart of the process forgets it.</summary>
    public void FlushLater(TimeSpan delay)
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

internal static partial class MemcachedLog
{
    [LoggerMessage(1, LogLevel.Warning, "flush_all with a delay was not carried out: {Reason}; send it again")]
    public static partial void NotFlushed(ILogger logger, string reason);

    [LoggerMessage(2, LogLevel.Information, "memcached at {Listen}: keyspace {Keyspace}, {Mode} reads")]
    public static partial void Serving(ILogger logger, string listen, string keyspace, string mode);

    [LoggerMessage(3, LogLevel.Error, "A memcached connection has ended by a fault of this program")]
    public static partial void Failed(ILogger logger, Exception error);
}
