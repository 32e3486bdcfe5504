using System.Collections.Immutable;
using JobScheduler.Objects;

namespace JobScheduler.Scheduling;

/// <summary>Next step of the replica whose turn it is.</summary>
public abstract record Step
{
    private Step()
    {
    }

    /// <summary>Submit the next jobs in first-come order.</summary>
    /// <param name="From">Index of the first one, which is also how many were submitted before.</param>
    public sealed record Submit(int From, int Count) : Step;

    /// <summary>Start the first pending jobs, all of which start at the same virtual instant.</summary>
    public sealed record Start(ImmutableArray<PendingJob> Jobs, long AtSeconds) : Step;

    /// <summary>Finish these jobs: the first pending one cannot start without their nodes.</summary>
    /// <param name="Enabling">
    /// The last of them, when it ends later than the clock: its transaction moves the clock there. Null when all ended
    /// in the past already.
    /// </param>
    public sealed record Finish(ImmutableArray<RunningJob> Jobs, RunningJob? Enabling) : Step;

    /// <summary>All jobs are started; what runs is finished by the replicas that own it.</summary>
    public sealed record Drain : Step;

    /// <summary>Nothing is pending, running or yet to be submitted.</summary>
    public sealed record Done : Step;
}
