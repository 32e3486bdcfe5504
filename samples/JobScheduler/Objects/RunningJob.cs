using Tango;

namespace JobScheduler.Objects;

/// <summary>A started job. Which nodes it holds is known to the <see cref="NodePool"/> alone.</summary>
[MessagePackObject]
public readonly record struct RunningJob(
    [property: Key(0)] PendingJob Job,
    [property: Key(1)] long StartSeconds)
{
    public long FinishSeconds => StartSeconds + Job.RunSeconds;
}
