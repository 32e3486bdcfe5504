using System.Threading.RateLimiting;
using Microsoft.Extensions.Options;

namespace Corfu.Grpc;

/// <summary>Bytes that all calls of the process hold together: appends until their outcome, reads until their batch is
/// sent. A call that finds none left waits, first come first served, and HTTP/2 holds its client.</summary>
internal sealed class ByteBudget(IOptions<CorfuGrpcOptions> options) : IDisposable
{
    // A limiter counts in int.
    private const int Unit = 1024;

    private readonly int _units = (int)Math.Min(int.MaxValue, options.Value.MaxBytesInFlight / Unit);

    private readonly ConcurrencyLimiter _limiter = new(new ConcurrencyLimiterOptions
    {
        PermitLimit = (int)Math.Min(int.MaxValue, options.Value.MaxBytesInFlight / Unit),
        QueueLimit = int.MaxValue,
    });

    /// <summary>Takes bytes from the budget. A request above the whole budget takes all of it.</summary>
    public async ValueTask<IDisposable> TakeAsync(long bytes, CancellationToken cancellationToken) =>
        await _limiter.AcquireAsync((int)Math.Clamp(bytes / Unit + 1, 1, _units), cancellationToken);

    public void Dispose() => _limiter.Dispose();
}
