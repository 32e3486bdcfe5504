using JobScheduler.Objects;
using JobScheduler.Reference;
using JobScheduler.Workloads;

namespace JobScheduler.Reporting;

/// <summary>Compares the end of a run with what the plain scheduler says.</summary>
public static class Verifier
{
    private const int FaultsNamed = 5;

    public static Verdict Check(Workload workload, FinalState state)
    {
        var faults = new List<string>();
        IReadOnlyList<ScheduledJob> expected = ReferenceScheduler.Run(workload);
        int done = 0;
        int wrong = 0;
        foreach (ScheduledJob entry in expected)
        {
            if (!state.Finished.TryGetValue(entry.Job.Number, out FinishedJob finished))
                continue;
            done++;
            if (finished.StartSeconds == entry.StartSeconds && finished.Job == PendingJob.From(entry.Job))
                continue;
            if (wrong++ < FaultsNamed)
                faults.Add(
                    $"job {entry.Job.Number} started at {finished.StartSeconds}, not at {entry.StartSeconds}, or ran "
                    + "as another job");
        }

        if (wrong > FaultsNamed)
            faults.Add($"{wrong - FaultsNamed} more jobs differ from the plain scheduler");
        int lost = workload.Jobs.Count - done;
        Require(faults, lost == 0, $"{lost} jobs were never finished");
        int foreign = state.Finished.Count - done;
        Require(faults, foreign == 0, $"{foreign} finished jobs are not in the workload");
        long duplicate = Duplicates(state);
        Require(faults, duplicate == 0, $"{duplicate} executions were repetitions");
        int overcommitted = Overcommitted(workload.Nodes, state.Finished.Values);
        Require(faults, overcommitted == 0, $"{overcommitted} jobs shared a node or ran on nodes that do not exist");
        Require(faults, state.FreeNodes == workload.Nodes, $"{state.FreeNodes} of {workload.Nodes} nodes are free");
        Require(faults, state is { Pending: 0, Running: 0 },
            $"{state.Pending} jobs are still pending and {state.Running} running");
        CheckUsage(faults, state);
        return new Verdict(
            workload.Jobs.Count, done, lost, duplicate, overcommitted, state.FreeNodes,
            wrong == 0 && lost == 0 && foreign == 0, faults);
    }

    // Every transaction counts the jobs it starts or finishes, so an execution that overwrote another one still shows.
    private static long Duplicates(FinalState state)
    {
        long starts = state.Replicas.Values.Sum(totals => totals.JobsStarted) - state.Running - state.Finished.Count;
        long finishes = state.Replicas.Values.Sum(totals => totals.JobsFinished) - state.Finished.Count;
        return Math.Max(0, Math.Max(starts, finishes));
    }

    private static int Overcommitted(int nodes, IEnumerable<FinishedJob> finished)
    {
        var busyUntil = new long[nodes];
        int overcommitted = 0;
        foreach (FinishedJob job in finished.OrderBy(job => job.StartSeconds).ThenBy(job => job.FinishSeconds))
        {
            bool fits = job.Nodes.Sum(range => range.Count) == job.Job.Nodes;
            foreach (NodeRange range in job.Nodes)
            {
                for (int node = range.First; node < range.First + range.Count; node++)
                {
                    if (node < 0 || node >= nodes || busyUntil[node] > job.StartSeconds)
                        fits = false;
                    else
                        busyUntil[node] = job.FinishSeconds;
                }
            }

            if (!fits)
                overcommitted++;
        }

        return overcommitted;
    }

    private static void CheckUsage(List<string> faults, FinalState state)
    {
        var expected = state.Finished.Values.GroupBy(job => job.Job.User)
            .ToDictionary(group => group.Key,
                group => new UserUsage(group.Count(), group.Sum(job => job.Job.NodeSeconds)));
        bool same = expected.Count == state.Usage.Count
            && state.Usage.All(pair => expected.TryGetValue(pair.Key, out UserUsage usage) && usage == pair.Value);
        Require(faults, same, "usage per user does not add up to the finished jobs");
    }

    private static void Require(List<string> faults, bool holds, string otherwise)
    {
        if (!holds)
            faults.Add(otherwise);
    }
}
