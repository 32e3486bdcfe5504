using Corfu;

namespace Tango;

/// <summary>
/// A lease that this process holds. It renews itself after a third of its time to live; disposing it ends it. The
/// owner counts the time from when it sent the last renewal that succeeded, so that it stops before any other process
/// can expire the lease, if clocks run at one rate. Where more than that is needed, guard writes by a fencing token.
/// </summary>
public sealed class TangoLease : IAsyncDisposable
{
    private static readonly TimeSpan s_longestEnd = TimeSpan.FromSeconds(10);

    private readonly IObjectHost _host;
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
    private volatile bool _isSettled;

    private TangoLease(
        IObjectHost host, long id, TimeSpan timeToLive, long sentAt,
        Func<long, CancellationToken, ValueTask<bool>> renew, Func<long, CancellationToken, ValueTask> end)
    {
        (_host, Id, TimeToLive, _time, _sentAt, _renew, _end) = (host, id, timeToLive, host.Time, sentAt, renew, end);
        _lost = new CancellationTokenSource(Left(sentAt), _time);
        _stop = CancellationTokenSource.CreateLinkedTokenSource(_lost.Token);
        Lost = _lost.Token;
        _keeping = host.Loops.RunAsync(KeepAsync);
    }

    /// <summary>Within its object.</summary>
    public long Id { get; }

    /// <summary>The object that granted it.</summary>
    public string ObjectName => _host.Name;

    /// <summary>Without a renewal for so long, the lease ends.</summary>
    public TimeSpan TimeToLive { get; }

    /// <summary>Cancelled when the lease has ended or may end: it was not renewed in time, it was taken away, or it was
    /// disposed.</summary>
    public CancellationToken Lost { get; }

    /// <summary>False once <see cref="Lost"/> is cancelled, or will be as soon as this process is scheduled
    /// again.</summary>
    public bool IsHeld =>
        !_isSettled && !Lost.IsCancellationRequested && _time.GetElapsedTime(Volatile.Read(ref _sentAt)) < TimeToLive;

    /// <summary>Counted from when the last renewal that succeeded was sent; zero once the lease is not held. For an
    /// owner that keeps a margin for clocks of unequal rates.</summary>
    public TimeSpan Remaining => IsHeld ? Left(Volatile.Read(ref _sentAt)) : TimeSpan.Zero;

    /// <summary>Whether the object granted it, by this handle or another one. False also for another object that has
    /// the name since.</summary>
    public bool IsOf(TangoObject tangoObject)
    {
        ArgumentNullException.ThrowIfNull(tangoObject);
        return tangoObject.Host.Id == _host.Id && tangoObject.Host.Name == _host.Name;
    }

    /// <summary>Grants a lease and keeps it. For the code of an <see cref="ITangoLeased"/> object.</summary>
    /// <param name="grant">Returns the lease's id; null: it was not granted.</param>
    /// <param name="renew">False: there is no such lease any more.</param>
    /// <param name="end">Ends the lease. A failure is no error: the lease ends by itself.</param>
    internal static async ValueTask<TangoLease?> GrantAsync(
        IObjectHost host, TimeSpan timeToLive, Func<CancellationToken, ValueTask<long?>> grant,
        Func<long, CancellationToken, ValueTask<bool>> renew, Func<long, CancellationToken, ValueTask> end,
        CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        var sentAt = host.Time.GetTimestamp();
        // Without the caller's token: a record that is on its way may grant a lease that no process would renew or end.
        var granting = host.Loops.RunAsync(() => grant(CancellationToken.None).AsTask());
        await ((Task)granting).WaitOrCancelAsync(cancellationToken).ConfigureAwait(
            ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
        if (!granting.IsCompleted)
        {
            host.Loops.Start(() => EndLaterAsync(host, granting, timeToLive, end));
            cancellationToken.ThrowIfCancellationRequested();
        }

        return await granting is { } id ? new TangoLease(host, id, timeToLive, sentAt, renew, end) : null;
    }

    /// <summary>Ends the lease. What it stood for is free when this completes or, if the log cannot be reached for 10
    /// seconds, <see cref="TimeToLive"/> later.</summary>
    public async ValueTask DisposeAsync()
    {
        _stop.Cancel();
        await _keeping;
        _lost.Cancel();
    }

    /// <summary>The owner has ended what the lease stood for, by another call: the lease is neither renewed nor ended,
    /// and not lost either. <see cref="Lost"/> is cancelled when it is disposed.</summary>
    public void Settle()
    {
        _isSettled = true;
        _stop.Cancel();
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

        if (_isSettled)
        {
            _lost.CancelAfter(Timeout.InfiniteTimeSpan);
            return;
        }

        try
        {
            _lost.Cancel();
        }
        finally
        {
            // Also if a callback of the user fails.
            if (!_isLetGo) await EndAsync(Id, TimeToLive, _time, _end);
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
                _lost.CancelAfter(Left(sentAt));
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

    // Never negative, which would mean no timer at all: this process may be stopped between two looks at the clock.
    private TimeSpan Left(long sentAt)
    {
        var left = TimeToLive - _time.GetElapsedTime(sentAt);
        return left > TimeSpan.Zero ? left : TimeSpan.Zero;
    }

    private static async Task EndLaterAsync(
        IObjectHost host, Task<long?> granting, TimeSpan timeToLive, Func<long, CancellationToken, ValueTask> end)
    {
        try
        {
            if (await granting is { } id) await EndAsync(id, timeToLive, host.Time, end);
        }
        catch (Exception)
        {
            // In doubt: what it may have been granted is expired by others.
        }
    }

    private static async Task EndAsync(
        long id, TimeSpan timeToLive, TimeProvider time, Func<long, CancellationToken, ValueTask> end)
    {
        using var bound = new CancellationTokenSource(timeToLive < s_longestEnd ? timeToLive : s_longestEnd, time);
        try
        {
            await end(id, bound.Token);
        }
        catch (Exception)
        {
            // Other hosts expire the lease.
        }
    }
}
