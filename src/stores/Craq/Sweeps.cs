namespace Craq;

/// <summary>Work that a node does again and again beside its requests.</summary>
internal static class Sweeps
{
    /// <summary>Sweeps until the node ends. A sweep that fails is made again at its next time.</summary>
    public static async Task RunAsync(TimeSpan interval, TimeProvider time,
        Func<CancellationToken, ValueTask> sweep, CancellationToken stopping)
    {
        while (!stopping.IsCancellationRequested)
        {
            try
            {
                await Task.Delay(interval, time, stopping);
                await sweep(stopping);
            }
            catch (Exception error) when (error is CorfuException or IOException or ObjectDisposedException)
            {
                // The node has failed and reports that itself, or the next sweep does it.
            }
            catch (OperationCanceledException)
            {
                // The node ends, or a call has taken too long.
            }
        }
    }
}
