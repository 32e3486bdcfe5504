using System.Collections.Immutable;
using Corfu;
using Microsoft.Extensions.Logging;
using Tango.Calls;
using Tango.Model;
using Tango.Records;

namespace Tango.Playback;

/// <summary>
/// Publishes what one playback has decided (R20). The decisions about own transactions are sent at once. Those about
/// other clients' are sent if the commit record is an orphan: its decision record was not played within the time-out
/// (Tango 4.1, Failure handling).
/// </summary>
/// <param name="sync">Completes when playback has reached the tail.</param>
internal sealed class DecisionPublisher(
    Commits commits, CallBatcher calls, Func<CancellationToken, Task> sync, TimeSpan orphanTimeout, TimeProvider time,
    LoopContext loops, ILogger logger, CancellationToken lifetime)
{
    private readonly Lock _gate = new();

    // Guarded by _gate. Invariant: the watch runs if a record was decided here whose decision record is not played.
    private bool _isWatching;

    /// <summary>Playback may have decided records.</summary>
    public void OnDecided()
    {
        Send(commits.TakeOwn());
        if (!commits.HasDecided) return;
        lock (_gate)
        {
            if (_isWatching) return;
            _isWatching = true;
        }

        loops.Start(WatchOrphansAsync);
    }

    /// <summary>Playback has ended without another that goes on from here.</summary>
    public void PublishAll() => Send(commits.TakeAll());

    private void Send(ImmutableArray<DecidedCommit> decided)
    {
        foreach (var one in decided) calls.SendDecision(one, () => commits.NotSent(one.Commit));
    }

    /// <summary>The watch ends when nothing waits for its decision record, with the runtime, or when decisions
    /// differ.</summary>
    private async Task WatchOrphansAsync()
    {
        try
        {
            do
            {
                await Task.Delay(orphanTimeout, time, lifetime);
                await SyncForAWhileAsync();
            }
            while (TryPublishOrphans());
        }
        catch (Exception e)
        {
            lock (_gate) _isWatching = false;
            if (!lifetime.IsCancellationRequested)
                logger.LogWarning(e, "Orphaned commit records are not watched until the next one");
        }
    }

    /// <returns>False: the watch has ended.</returns>
    private bool TryPublishOrphans()
    {
        lock (_gate)
        {
            _isWatching = commits.HasDecided;
            if (!_isWatching) return false;
        }

        Send(commits.TakeDecidedBy(
            time.GetTimestamp() - (long)(orphanTimeout.TotalSeconds * time.TimestampFrequency)));
        return true;
    }

    /// <summary>
    /// Plays what has been published meanwhile, but only for a while. Playback may be blocked at a decision of another
    /// host that itself waits for a decision from here. A decision that stands in the log twice does no harm.
    /// </summary>
    private async Task SyncForAWhileAsync()
    {
        using var late = new CancellationTokenSource(orphanTimeout, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(lifetime, late.Token);
        try
        {
            await sync(either.Token);
        }
        catch (OperationCanceledException)
            when (late.IsCancellationRequested && !lifetime.IsCancellationRequested)
        {
        }
        catch (Exception e) when (e is not TangoDivergenceException && !lifetime.IsCancellationRequested)
        {
            // R20: what is decided here stays decided, and other hosts may be blocked until they hear of it.
            logger.LogWarning(e, "Playback failed; decided commit records are published without it");
        }
    }
}
