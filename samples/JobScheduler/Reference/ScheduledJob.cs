using JobScheduler.Workloads;

namespace JobScheduler.Reference;

/// <summary>A job and when it started.</summary>
public readonly record struct ScheduledJob(Job Job, long StartSeconds)
{
    public long WaitSeconds => StartSeconds - Job.SubmitSeconds;

    public long FinishSeconds => StartSeconds + Job.RunSeconds;
}
