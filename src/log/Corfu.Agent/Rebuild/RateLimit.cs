namespace Corfu.Agent;

/// <summary>Bytes per second on average, with bursts of a tenth of a second.</summary>
internal sealed class RateLimit(TimeProvider time, long? bytesPerSecond)
{
    private readonly Lock _gate = new();

    // Guarded by _gate: the time at which all that was taken is within the rate.
    private long _paid = time.GetTimestamp();

    public async ValueTask TakeAsync(long bytes, CancellationToken cancellationToken)
    {
        if (bytesPerSecond is not { } rate) return;
        TimeSpan wait;
        lock (_gate)
        {
            var now = time.GetTimestamp();
            _paid = Math.Max(_paid, now) + (long)((double)bytes / rate * time.TimestampFrequency);
            wait = time.GetElapsedTime(now, _paid) - TimeSpan.FromMilliseconds(100);
        }

        if (wait > TimeSpan.Zero) await Task.Delay(wait, time, cancellationToken);
    }
}
