using System.Collections.Immutable;
using Microsoft.Extensions.Logging;
using Tango.Calls;
using Tango.Chores;
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
    ChoreLoop chores, ILogger logger, CancellationToken lifetime) : IChore
{
    /// <summary>Playback may have decided records.</summary>
    public void OnDecided()
    {
        Send(commits.TakeOwn());
        if (commits.HasDecided) chores.Schedule(this, orphanTimeout);
    }

    /// <summary>Playback has ended without another that goes on from here.</summary>
    public void PublishAll() => Send(commits.TakeAll());

    /// <summary>Publishes orphans. Rests when nothing waits for its decision record, and when decisions
    /// differ.</summary>
    public async Task<TimeSpan?> RunAsync()
    {
        try
        {
            await SyncForAWhileAsync();
            if (!commits.HasDecided) return null;
            Send(commits.TakeDecidedBy(
                time.GetTimestamp() - (long)(orphanTimeout.TotalSeconds * time.TimestampFrequency)));
            return orphanTimeout;
        }
        catch (Exception e)
        {
            if (!lifetime.IsCancellationRequested)
                logger.LogWarning(e, "Orphaned commit records are not watched until the next one");
            return null;
        }
    }

    private void Send(ImmutableArray<DecidedCommit> decided)
    {
        foreach (var one in decided) calls.SendDecision(one, () => commits.NotSent(one.Commit));
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
