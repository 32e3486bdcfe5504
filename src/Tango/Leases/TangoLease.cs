using Corfu.Protocol;

namespace Tango;

/// <summary>
/// A lease that this process holds. It renews itself after a third of its time to live; disposing it ends it. The
/// owner counts the time from when it sent the last renewal that succeeded, so that it stops before any other process
/// can expire the lease, if clocks run at one rate. Where more than that is needed, guard writes by a fencing token.
/// </summary>
public sealed class TangoLease : IAsyncDisposable
{
    private readonly TimeProvider _time;
    private readonly Func<long, CancellationToken, ValueTask<bool>> _renew;
    private readonly Func<long, CancellationToken, ValueTask> _end;

    // Cancelled by its own timer at TimeToLive after _sentAt.
    private readonly CancellationTokenSource _lost;
    private readonly CancellationTokenSource _stop;
    private readonly Task _keeping;

    // When the last renewal that succeeded was sent.
    private long _sentAt;

    // Written before _stop is cancelled: the lease is not ended.
    private volatile bool _isLetGo;

    private TangoLease(
        long id, TimeSpan timeToLive, TimeProvider time, LoopContext loops, long sentAt,
        Func<long, CancellationToken, ValueTask<bool>> renew, Func<long, CancellationToken, ValueTask> end)
    {
        (Id, TimeToLive, _time, _sentAt, _renew, _end) = (id, timeToLive, time, sentAt, renew, end);
        var left = timeToLive - time.GetElapsedTime(sentAt);
        _lost = new CancellationTokenSource(left > TimeSpan.Zero ? left : TimeSpan.Zero, time);
        _stop = CancellationTokenSource.CreateLinkedTokenSource(_lost.Token);
        Lost = _lost.Token;
        _keeping = loops.RunAsync(KeepAsync);
    }

    /// <summary>Within its object.</summary>
    public long Id { get; }

    /// <summary>Without a renewal for so long, the lease ends.</summary>
    public TimeSpan TimeToLive { get; }

    /// <summary>Cancelled when the lease has ended or may end: it was not renewed in time, it was taken away, or it was
    /// disposed.</summary>
    public CancellationToken Lost { get; }

    /// <summary>False once <see cref="Lost"/> is cancelled, or will be as soon as this process is scheduled
    /// again.</summary>
    public bool IsHeld =>
        !Lost.IsCancellationRequested && _time.GetElapsedTime(Volatile.Read(ref _sentAt)) < TimeToLive;

    /// <summary>Grants a lease and keeps it. For the code of an <see cref="ITangoLeased"/> object.</summary>
    /// <param name="grant">Returns the lease's id; null: it was not granted.</param>
    /// <param name="renew">False: there is no such lease any more.</param>
    /// <param name="end">Its failure is no error: the lease ends by itself.</param>
    internal static async ValueTask<TangoLease?> GrantAsync(
        TimeSpan timeToLive, TimeProvider time, LoopContext loops, Func<CancellationToken, ValueTask<long?>> grant,
        Func<long, CancellationToken, ValueTask<bool>> renew, Func<long, CancellationToken, ValueTask> end,
        CancellationToken cancellationToken)
    {
        var sentAt = time.GetTimestamp();
        return await grant(cancellationToken) is { } id
            ? new TangoLease(id, timeToLive, time, loops, sentAt, renew, end)
            : null;
    }

    /// <summary>Ends the lease. What it stood for is free when this completes or, if the log cannot be reached,
    /// <see cref="TimeToLive"/> later.</summary>
    public async ValueTask DisposeAsync()
    {
        _stop.Cancel();
        await _keeping;
    }

    /// <summary>
    /// Stops the renewals and leaves the lease as it is: it ends <see cref="TimeToLive"/> after the last renewal,
    /// unless another process renews it by its number until then.
    /// </summary>
    public async ValueTask LetGoAsync()
    {
        _isLetGo = true;
        _stop.Cancel();
        await _keeping;
    }

    private async Task KeepAsync()
    {
        while (await RenewAsync())
        {
        }

        try
        {
            _lost.Cancel();
        }
        finally
        {
            // Also if a callback of the user fails.
            if (!_isLetGo) await EndAsync();
        }
    }

    /// <returns>False: the lease is not held any more, or is not to be.</returns>
    private async Task<bool> RenewAsync()
    {
        var pause = (TimeToLive / 3) - _time.GetElapsedTime(_sentAt);
        while (true)
        {
            try
            {
                if (pause > TimeSpan.Zero) await Task.Delay(pause, _time, _stop.Token);
                if (_stop.IsCancellationRequested) return false;
                var sentAt = _time.GetTimestamp();
                if (!await _renew(Id, _stop.Token) || !IsHeld) return false;
                Volatile.Write(ref _sentAt, sentAt);
                _lost.CancelAfter(TimeToLive - _time.GetElapsedTime(sentAt));
                return !_stop.IsCancellationRequested;
            }
            catch (Exception e) when (_stop.IsCancellationRequested
                || e is ObjectDisposedException or TangoObjectDeletedException)
            {
                return false;
            }
            catch (Exception)
            {
                // In doubt or unavailable. Renewing twice does no harm.
                pause = TimeToLive / 10;
            }
        }
    }

    private async Task EndAsync()
    {
        using var bound = new CancellationTokenSource(TimeToLive, _time);
        try
        {
            await _end(Id, bound.Token);
        }
        catch (Exception)
        {
            // It is expired by others.
        }
    }
}
