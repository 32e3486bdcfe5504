using Tango;

namespace Corfu.Grpc;

/// <summary>Waits for a lock or a delivery on behalf of a session.</summary>
internal static class Waits
{
    /// <param name="maxWait">Zero: what there is now. Null: as long as the call.</param>
    /// <returns>Null: there was none in time.</returns>
    /// <exception cref="SessionNotFoundException">The session has ended meanwhile.</exception>
    public static async Task<T?> ForAsync<T>(
        Session session, TimeSpan? maxWait, TimeProvider time, Func<CancellationToken, ValueTask<T?>> tryNow,
        Func<CancellationToken, ValueTask<T>> wait, CancellationToken call)
        where T : class
    {
        using var limit = new CancellationTokenSource(maxWait ?? Timeout.InfiniteTimeSpan, time);
        using var stop = maxWait == TimeSpan.Zero
            ? CancellationTokenSource.CreateLinkedTokenSource(call, session.Ended)
            : CancellationTokenSource.CreateLinkedTokenSource(call, session.Ended, limit.Token);
        try
        {
            return maxWait == TimeSpan.Zero ? await tryNow(stop.Token) : await wait(stop.Token);
        }
        // An arrival that was cancelled while it was written is in doubt: nothing renews it.
        catch (Exception e)
            when (e is OperationCanceledException or TangoInDoubtException && stop.IsCancellationRequested)
        {
            call.ThrowIfCancellationRequested();
            if (session.Ended.IsCancellationRequested) throw new SessionNotFoundException(session.Id);
            return null;
        }
    }
}
