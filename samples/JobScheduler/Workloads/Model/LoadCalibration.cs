using JobScheduler.Reference;

namespace JobScheduler.Workloads.Model;

/// <summary>
/// Brings a model workload to a load where queueing shows. Following the model's authors, only the times between
/// arrivals are scaled: all submit times are multiplied by one factor until the offered load, the sum of nodes * run
/// time over machine size * span of arrivals, is the target. The target starts at <see cref="FirstLoad"/> and rises by
/// <see cref="LoadStep"/> until at least <see cref="WaitingShare"/> of the jobs wait under first come, first served.
/// </summary>
public static class LoadCalibration
{
    public const double WaitingShare = 0.4;
    public const double FirstLoad = 0.5;
    public const double LoadStep = 0.05;

    // Twice the machine's capacity: whatever the seed, most jobs wait by then.
    private const double LastLoad = 2;

    /// <summary>The calibrated workload; the same for the same input.</summary>
    public static Workload Apply(Workload workload)
    {
        double load = OfferedLoad(workload);
        if (load == 0)
            return workload;
        Workload scaled = workload;
        for (double target = FirstLoad; target <= LastLoad; target += LoadStep)
        {
            scaled = workload.Compress(target / load);
            if (ReferenceScheduler.Run(scaled).Count(entry => entry.WaitSeconds > 0)
                >= WaitingShare * scaled.Jobs.Count)
                break;
        }

        return scaled;
    }

    /// <summary>Work offered over capacity during the span of arrivals; 0 when all jobs arrive at once.</summary>
    public static double OfferedLoad(Workload workload)
    {
        double work = workload.Jobs.Sum(job => (double)job.Nodes * job.RunSeconds);
        double span = workload.Jobs[^1].SubmitSeconds - workload.Jobs[0].SubmitSeconds;
        return span <= 0 ? 0 : work / (workload.Nodes * span);
    }
}
