using System.Threading.RateLimiting;

namespace Corfu.Grpc;

/// <summary>Bytes that all calls of the process hold together. Each caller has a share of its own, so that one that
/// fills its share holds up no other.</summary>
internal sealed class ByteBudget : IDisposable
{
    // A limiter counts in int.
    private const int Unit = 1024;

    private readonly CorfuGrpcOptions _options;
    private readonly int _most;
    private readonly PartitionedRateLimiter<string> _own;
    private readonly PartitionedRateLimiter<string> _all;
    private readonly PartitionedRateLimiter<string> _both;
    private long _taken;

    public ByteBudget(CorfuGrpcOptions options)
    {
        _options = options;
        var all = UnitsOf(_options.MaxBytesInFlight);
        _most = Math.Min(all, UnitsOf(_options.MaxBytesOfCaller));
        _own = Limiter(static caller => caller, _most);
        _all = Limiter(static _ => "", all);
        _both = PartitionedRateLimiter.CreateChained(_own, _all);
    }

    public long Taken => Interlocked.Read(ref _taken);

    /// <summary>Units that calls of a caller wait for.</summary>
    internal long WaitedFor(string caller) => _own.GetStatistics(caller)?.CurrentQueuedCount ?? 0;

    /// <summary>Takes bytes from the caller's share and the budget; waits until both have them, first come first
    /// served. A request above the whole share takes all of it.</summary>
    public async ValueTask<IDisposable> TakeAsync(string caller, long bytes, CancellationToken cancellationToken) =>
        new Share(this, await _both.AcquireAsync(caller, UnitsFor(bytes), cancellationToken), bytes);

    /// <summary>As <see cref="TakeAsync"/>, for a caller that does not wait.</summary>
    /// <exception cref="FrontEndLimitException">The share or the budget has too little left.</exception>
    public IDisposable TakeNow(string caller, long bytes)
    {
        var lease = _both.AttemptAcquire(caller, UnitsFor(bytes));
        if (lease.IsAcquired) return new Share(this, lease, bytes);
        lease.Dispose();
        throw _own.GetStatistics(caller)?.CurrentAvailablePermits < UnitsFor(bytes)
            ? new FrontEndLimitException(nameof(CorfuGrpcOptions.MaxBytesOfCaller), _options.MaxBytesOfCaller)
            : new FrontEndLimitException(nameof(CorfuGrpcOptions.MaxBytesInFlight), _options.MaxBytesInFlight);
    }

    public void Dispose()
    {
        _both.Dispose();
        _own.Dispose();
        _all.Dispose();
    }

    private static int UnitsOf(long bytes) => (int)Math.Clamp(bytes / Unit, 1, int.MaxValue);

    private static PartitionedRateLimiter<string> Limiter(Func<string, string> keyOf, int units) =>
        PartitionedRateLimiter.Create<string, string>(caller => RateLimitPartition.GetConcurrencyLimiter(
            keyOf(caller), _ => new ConcurrencyLimiterOptions { PermitLimit = units, QueueLimit = int.MaxValue }));

    private int UnitsFor(long bytes) => (int)Math.Clamp(bytes / Unit + 1, 1, _most);

    private sealed class Share : IDisposable
    {
        private readonly ByteBudget _budget;
        private readonly long _bytes;
        private RateLimitLease? _lease;

        public Share(ByteBudget budget, RateLimitLease lease, long bytes)
        {
            (_budget, _lease, _bytes) = (budget, lease, bytes);
            Interlocked.Add(ref budget._taken, bytes);
        }

        public void Dispose()
        {
            if (Interlocked.Exchange(ref _lease, null) is not { } lease) return;
            Interlocked.Add(ref _budget._taken, -_bytes);
            lease.Dispose();
        }
    }
}
