namespace Corfu.Server;

/// <summary>A rate with one second's worth at once: everything is taken, and the next must wait until it is paid for.
/// Any thread. <c>TokenBucketRateLimiter</c> refuses more than a bucket at once, which a batch may be, and has no clock
/// that tests can set.</summary>
internal sealed class Pace(TimeProvider time)
{
    private readonly Lock _gate = new();

    // Guarded by _gate. The time stamp at which all that was taken is paid for; in the past: the rest is credit.
    private long _paidAt = long.MinValue / 2;

    /// <returns>How long to wait before more is taken.</returns>
    public TimeSpan Take(double amount, double perSecond)
    {
        lock (_gate)
        {
            var now = time.GetTimestamp();
            var cost = amount / perSecond * time.TimestampFrequency;
            _paidAt = Math.Max(_paidAt, now - time.TimestampFrequency) + (long)Math.Min(cost, long.MaxValue / 4);
            return _paidAt <= now ? TimeSpan.Zero : time.GetElapsedTime(now, _paidAt);
        }
    }
}
