using System.Threading.RateLimiting;

namespace Corfu.Grpc;

/// <summary>Bounds the lists that are made at once: each copies and sorts a whole object. One caller has a part of the
/// places, so that its lists hold up no other's.</summary>
internal sealed class Listings : IDisposable
{
    // Parts of the places, of which one caller has one.
    private const int Parts = 4;

    private readonly PartitionedRateLimiter<string> _own;
    private readonly PartitionedRateLimiter<string> _all;
    private readonly PartitionedRateLimiter<string> _both;

    public Listings(int most)
    {
        _own = Limiter(static caller => caller, Math.Max(1, most / Parts));
        _all = Limiter(static _ => "", most);
        _both = PartitionedRateLimiter.CreateChained(_own, _all);
    }

    /// <summary>Makes a list when a place is free, first come first served.</summary>
    public async Task<T> RunAsync<T>(string caller, Func<Task<T>> make, CancellationToken cancellationToken)
    {
        using var place = await _both.AcquireAsync(caller, 1, cancellationToken);
        return await make();
    }

    public void Dispose()
    {
        _both.Dispose();
        _own.Dispose();
        _all.Dispose();
    }

    private static PartitionedRateLimiter<string> Limiter(Func<string, string> keyOf, int most) =>
        PartitionedRateLimiter.Create<string, string>(caller => RateLimitPartition.GetConcurrencyLimiter(
            keyOf(caller), _ => new ConcurrencyLimiterOptions { PermitLimit = most, QueueLimit = int.MaxValue }));
}
