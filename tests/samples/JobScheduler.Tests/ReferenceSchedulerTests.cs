using JobScheduler.Reference;
using JobScheduler.Workloads;

namespace JobScheduler.Tests;

public sealed class ReferenceSchedulerTests
{
    [Fact]
    public void A_job_starts_at_once_when_the_nodes_are_free() =>
        Assert.Equal([5L, 6L], Starts(4, (5, 10, 2), (6, 10, 2)));

    [Fact]
    public void The_head_waits_for_enough_finishes() =>
        Assert.Equal([0L, 0, 20], Starts(4, (0, 10, 2), (0, 20, 2), (1, 5, 4)));

    [Fact]
    public void Nobody_overtakes_the_head() =>
        Assert.Equal([0L, 10, 10], Starts(4, (0, 10, 3), (1, 5, 3), (2, 1, 1)));

    [Fact]
    public void A_finish_at_the_same_time_comes_before_the_start() =>
        Assert.Equal([0L, 10], Starts(4, (0, 10, 4), (10, 5, 4)));

    [Fact]
    public void Job_of_no_duration_frees_the_nodes_for_the_same_instant() =>
        Assert.Equal([3L, 3], Starts(4, (3, 0, 4), (3, 5, 4)));

    private static long[] Starts(int nodes, params (long Submit, long Run, int Nodes)[] jobs) =>
        [.. ReferenceScheduler.Run(new Workload("t", nodes,
            jobs.Select((job, i) => new Job(i, job.Submit, job.Run, job.Nodes, 1))))
            .Select(entry => entry.StartSeconds)];
}
