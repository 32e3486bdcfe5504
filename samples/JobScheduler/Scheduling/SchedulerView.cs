using System.Collections.Immutable;
using JobScheduler.Objects;

namespace JobScheduler.Scheduling;

/// <summary>View of a replica on the shared state at one position of the log.</summary>
/// <param name="Heads">The first pending jobs, as many as one transaction may start.</param>
/// <param name="Pending">Length of the pending queue.</param>
/// <param name="Submitted">How many jobs, in first-come order, have been submitted so far.</param>
/// <param name="Clock">Time of the latest start, or of the finish that the next start waits for.</param>
/// <param name="FreeNodes">Nodes no running job holds.</param>
/// <param name="Running">In any order.</param>
public sealed record SchedulerView(
    ImmutableArray<PendingJob> Heads, int Pending, int Submitted, long Clock, int FreeNodes,
    IReadOnlyCollection<RunningJob> Running)
{
    /// <summary>The first pending job, or null.</summary>
    public PendingJob? Head => Heads.IsEmpty ? null : Heads[0];

    /// <summary>Jobs that have been started; they are never un-started.</summary>
    public int Started => Submitted - Pending;
}
