using Tango;

namespace JobScheduler.Objects;

/// <summary>A started job. Which nodes it holds is known to the <see cref="NodePool"/> alone.</summary>
[TangoValue]
public readonly record struct RunningJob(
    [property: TangoMember(0)] PendingJob Job,
    [property: TangoMember(1)] long StartSeconds)
{
    public long FinishSeconds => StartSeconds + Job.RunSeconds;
}
