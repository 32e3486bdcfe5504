using System.Collections.Immutable;
using JobScheduler.Objects;
using JobScheduler.Workloads;

namespace JobScheduler.Scheduling;

/// <summary>
/// Decides from one view what may happen next. Pure, and the same on every replica.
/// </summary>
/// <remarks>
/// First come, first served fixes every start time, whatever order transactions commit in, as long as two rules hold:
/// <list type="number">
/// <item>A job may be finished once its end is not after the start of the first pending job. That start is at least
/// <see cref="Earliest"/>; when nodes are lacking, it is the end of the running job whose nodes suffice at last (the
/// enabling one).</item>
/// <item>The transaction that finishes the enabling job also moves the clock to its end. Without that job the first
/// pending one does not fit, so no start can be dated too early. All other permitted finishes leave the clock alone,
/// and conflict with no other transaction.</item>
/// </list>
/// Both stay true when the view is old: starts only get later along the queue. So a finish needs to be sure of nothing
/// but that its job still runs, a start of nothing but that its jobs are still the first and the clock is what it was.
/// </remarks>
public sealed class Planner(Workload workload, SchedulingLimits limits)
{
    /// <summary>The next step of the replica whose turn it is.</summary>
    public Step Next(SchedulerView view)
    {
        int left = workload.Jobs.Count - view.Submitted;
        if (left > 0 && view.Pending < limits.PendingLowWater)
            return new Step.Submit(view.Submitted, Math.Min(left, limits.SubmitBatch));
        if (view.Head is not { } head)
            return view.Running.Count == 0 ? new Step.Done() : new Step.Drain();
        long earliest = Earliest(view);
        return view.FreeNodes >= head.Nodes ? StartAt(earliest, view) : FinishFor(head, earliest, view);
    }

    /// <summary>
    /// Jobs that have ended by the newest view and that <paramref name="mine"/> says are this replica's to
    /// finish, at most <see cref="SchedulingLimits.FinishBatch"/>.
    /// </summary>
    public ImmutableArray<RunningJob> Ended(SchedulerView view, Func<RunningJob, bool> mine)
    {
        long horizon = Earliest(view);
        return [.. view.Running.Where(job => job.FinishSeconds <= horizon && mine(job))
            .OrderBy(job => job.FinishSeconds).Take(limits.FinishBatch)];
    }

    /// <summary>No job that is not yet started can start before this; no limit once there is none.</summary>
    public long Earliest(SchedulerView view)
    {
        if (view.Head is { } head)
            return Math.Max(view.Clock, head.SubmitSeconds);
        return view.Submitted < workload.Jobs.Count
            ? Math.Max(view.Clock, workload.Jobs[view.Submitted].SubmitSeconds)
            : long.MaxValue;
    }

    private static Step.Start StartAt(long now, SchedulerView view)
    {
        int free = view.FreeNodes;
        int count = 0;
        foreach (PendingJob job in view.Heads)
        {
            if (job.SubmitSeconds > now || job.Nodes > free)
                break;
            free -= job.Nodes;
            count++;
        }

        return new Step.Start(view.Heads[..count], now);
    }

    private static Step.Finish FinishFor(PendingJob head, long earliest, SchedulerView view)
    {
        var needed = ImmutableArray.CreateBuilder<RunningJob>();
        int free = view.FreeNodes;
        foreach (RunningJob job in view.Running.OrderBy(job => job.FinishSeconds).ThenBy(job => job.Job.Number))
        {
            if (free >= head.Nodes)
                break;
            needed.Add(job);
            free += job.Job.Nodes;
        }

        RunningJob last = needed[^1];
        return new Step.Finish(needed.ToImmutable(), last.FinishSeconds > earliest ? last : null);
    }
}
