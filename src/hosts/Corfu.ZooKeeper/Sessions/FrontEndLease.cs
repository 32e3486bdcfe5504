using Corfu.ZooKeeper.Serving;

namespace Corfu.ZooKeeper.Sessions;

/// <summary>
/// Beats of this front end. Without a beat that was confirmed and sent within the lease, it answers
/// nothing: its clients' sessions may have ended elsewhere (Z10).
/// </summary>
internal sealed class FrontEndLease(FrontEndServices services, SessionTracker tracker, string address)
{
    private readonly TaskCompletionSource _first = new(TaskCreationOptions.RunContinuationsAsynchronously);

    // Guarded by the gate.
    private long _beat;
    private bool _isUp;

    /// <summary>Completes with the first confirmed record.</summary>
    public Task First => _first.Task;

    private Dispatcher Dispatcher => services.Dispatcher;

    /// <summary>Stops serving when the lease is over.</summary>
    public void Look()
    {
        lock (Dispatcher.Gate)
        {
            Dispatcher.MayAnswer();
            if (Planted.Is("silence-without-a-check")) tracker.Tick();
        }
    }

    /// <summary>Beats until it is stopped.</summary>
    public async Task RunAsync(CancellationToken stop)
    {
        while (!stop.IsCancellationRequested)
        {
            await BeatAsync(stop);
            await Task.Delay(services.Times.Beat, services.Time, stop).ConfigureAwait(
                ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
        }
    }

    /// <summary>Leaves the log's table: the sessions' clocks at others begin now.</summary>
    public async Task LeaveAsync(CancellationToken cancellationToken)
    {
        FrontEndDownRecord record;
        lock (Dispatcher.Gate) record = new FrontEndDownRecord(services.Identity.Id, _beat);
        try
        {
            await services.Partitions.UpdateAsync(record, cancellationToken);
        }
        catch (Exception e) when (LogFaults.IsFault(e) || e is OperationCanceledException)
        {
            FrontEndLog.NotTaken(services.Logger, nameof(FrontEndDownRecord), e);
        }
    }

    private async Task BeatAsync(CancellationToken stop)
    {
        TreeRecord? record = null;
        try
        {
            await services.Partitions.PrepareAsync(stop);
            lock (Dispatcher.Gate) record = Next();
            if (record is null) return;
            var sent = services.Time.GetTimestamp();
            var result = await services.Partitions.UpdateAsync(record, stop);
            lock (Dispatcher.Gate) OnAnswer(record, sent, result.Error);
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
            // The front end stops.
        }
        catch (Exception e) when (LogFaults.IsFault(e))
        {
            FrontEndLog.NotTaken(services.Logger, record?.GetType().Name ?? "read", e);
            // A beat in doubt may be in the log: the next number is above it in any case.
            if (record is not null) lock (Dispatcher.Gate) OnDoubt(record);
        }
    }

    // Null: a partition is not observed. A beat would keep sessions without a connection.
    private TreeRecord? Next()
    {
        if (Dispatcher.Root is null || !Dispatcher.IsWhole()) return null;
        return _isUp
            ? new BeatRecord(services.Identity.Id, _beat + 1)
            : new FrontEndUpRecord(services.Identity.Id, TreeLevel.Newest, address);
    }

    private void OnDoubt(TreeRecord record)
    {
        if (record is BeatRecord beat) _beat = beat.Beat;
        else services.Identity.Renew();
    }

    private void OnAnswer(TreeRecord record, long sent, ZooKeeperError error)
    {
        if (error != ZooKeeperError.Ok)
        {
            // Others took this process for dead. It begins again as another front end; its clients attach anew.
            Dispatcher.Stop("the log takes this front end for dead");
            services.Identity.Renew();
            (_isUp, _beat) = (false, 0);
            return;
        }

        _isUp = true;
        if (record is BeatRecord beat) _beat = beat.Beat;
        // A lease that is over ends with its clients and its clocks, also where this answer comes before the timer.
        var wasServing = Dispatcher.MayAnswer();
        if (services.Time.GetElapsedTime(sent) > services.Times.Lease) return;
        Dispatcher.Serve(sent);
        if (!Dispatcher.IsServing) return;
        if (!wasServing && !Planted.Is("pause-is-silence")) tracker.Reset();
        tracker.Tick();
        _first.TrySetResult();
    }
}
