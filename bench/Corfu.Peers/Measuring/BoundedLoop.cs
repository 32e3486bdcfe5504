using Corfu.Load;

namespace Corfu.Peers;

/// <summary>The callers of <see cref="ClosedLoop"/>, given up when a server stops answering.</summary>
internal static class BoundedLoop
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    /// <exception cref="TimeoutException">An operation had no answer long after the end of the measurement.</exception>
    public static async Task<RoundResult> RunAsync(int callers, double seconds, Func<int, ValueTask> operation,
        CancellationToken cancellationToken)
    {
        var duration = TimeSpan.FromSeconds(seconds);
        var (histogram, elapsed, failures) = await ClosedLoop.RunAsync(callers, duration, operation)
            .WaitAsync(duration + Patience, cancellationToken);
        return RoundResult.Of(histogram, elapsed, failures);
    }
}
