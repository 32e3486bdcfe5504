using JobScheduler.Workloads;

namespace JobScheduler.Reference;

/// <summary>
/// First come, first served without backfilling, in one thread and one loop: what the replicated scheduler is checked
/// against. It shares nothing with it but the workload.
/// </summary>
public static class ReferenceScheduler
{
    /// <summary>The schedule in start order.</summary>
    public static IReadOnlyList<ScheduledJob> Run(Workload workload)
    {
        var schedule = new List<ScheduledJob>(workload.Jobs.Count);
        var finishes = new PriorityQueue<int, long>();
        int free = workload.Nodes;
        long now = 0;
        foreach (Job job in workload.Jobs)
        {
            now = Math.Max(now, job.SubmitSeconds);
            // At equal times finishes come before starts.
            while (finishes.TryPeek(out int nodes, out long at) && (at <= now || free < job.Nodes))
            {
                finishes.Dequeue();
                free += nodes;
                now = Math.Max(now, at);
            }

            free -= job.Nodes;
            finishes.Enqueue(job.Nodes, now + job.RunSeconds);
            schedule.Add(new ScheduledJob(job, now));
        }

        return schedule;
    }
}
