using Corfu.Client;
using Microsoft.Extensions.Options;

namespace Corfu.Grpc;

/// <summary>Counts the subscriptions at once.</summary>
internal sealed class SubscriptionLimit(IOptions<CorfuGrpcOptions> options)
{
    private int _count;

    /// <exception cref="LogOverloadedException">There are as many as allowed.</exception>
    public IDisposable Take()
    {
        if (Interlocked.Increment(ref _count) <= options.Value.MaxSubscriptions) return new Place(this);
        Interlocked.Decrement(ref _count);
        throw new LogOverloadedException(
            $"{options.Value.MaxSubscriptions} subscriptions are served already; this one was refused.");
    }

    private sealed class Place(SubscriptionLimit limit) : IDisposable
    {
        private int _disposed;

        public void Dispose()
        {
            if (Interlocked.Exchange(ref _disposed, 1) == 0) Interlocked.Decrement(ref limit._count);
        }
    }
}
