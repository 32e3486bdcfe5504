using Microsoft.Extensions.Options;

namespace Corfu.Grpc;

/// <summary>Counts the watches: each plays its object beside the others.</summary>
internal sealed class WatchLimit(IOptions<CorfuGrpcOptions> options)
{
    private int _count;

    /// <exception cref="FrontEndLimitException">There are as many as there may be.</exception>
    public void Enter()
    {
        var limit = options.Value.Tango.MaxWatches;
        if (Interlocked.Increment(ref _count) <= limit) return;
        Leave();
        throw new FrontEndLimitException(nameof(TangoGrpcOptions.MaxWatches), limit);
    }

    public void Leave() => Interlocked.Decrement(ref _count);
}
