using System.Collections.Immutable;
using JobScheduler.Objects;
using JobScheduler.Reference;
using JobScheduler.Scheduling;
using JobScheduler.Workloads;
using JobScheduler.Workloads.Model;

namespace JobScheduler.Tests;

public sealed class PlannerTests
{
    private static readonly PendingJob Wide = new(9, 100, 10, 4, 1);

    [Fact]
    public void Jobs_are_submitted_before_the_queue_runs_dry()
    {
        var view = new SchedulerView([], 0, 0, 0, 4, []);
        Assert.Equal(new Step.Submit(0, 3), Planner(new SchedulingLimits { SubmitBatch = 3 }).Next(view));
        Assert.Equal(new Step.Submit(8, 2), Planner(new SchedulingLimits { SubmitBatch = 3 })
            .Next(view with { Submitted = 8 }));
    }

    [Fact]
    public void Head_starts_when_the_job_fits_not_before_the_submission_nor_the_clock()
    {
        Assert.Equal("9 at 100", Started(View(free: 4, clock: 50)));
        Assert.Equal("9 at 130", Started(View(free: 4, clock: 130)));
    }

    [Fact]
    public void Jobs_that_start_at_the_same_instant_start_together_and_nobody_overtakes()
    {
        SchedulerView view = View(free: 6, clock: 120) with
        {
            Heads = [Wide, Wide with { Number = 10, Nodes = 1 }, Wide with { Number = 11, Nodes = 2 },
                Wide with { Number = 12, Nodes = 1 }],
        };
        Assert.Equal("9,10 at 120", Started(view));
        Assert.Equal("9 at 100",
            Started(view
                with
            { Clock = 50, Heads = [Wide, Wide with { Number = 10, SubmitSeconds = 101, Nodes = 1 }] }));
    }

    [Fact]
    public void Only_the_finish_that_makes_room_at_last_moves_the_clock()
    {
        var step = (Step.Finish)Planner()
            .Next(View(free: 0, clock: 50, Running(1, 90, 1), Running(2, 150, 2), Running(3, 150, 1),
                Running(4, 150, 1)));
        Assert.Equal([1L, 2L, 3L], step.Jobs.Select(job => job.Job.Number));
        Assert.Equal(3, step.Enabling?.Job.Number);
    }

    [Fact]
    public void A_finish_in_the_past_leaves_the_clock_alone()
    {
        var step = (Step.Finish)Planner().Next(View(free: 3, clock: 50, Running(1, 100, 1)));
        Assert.Equal(1, Assert.Single(step.Jobs).Job.Number);
        Assert.Null(step.Enabling);
    }

    [Fact]
    public void Other_replicas_finish_only_jobs_that_have_ended_by_the_earliest_next_start()
    {
        SchedulerView view = View(free: 4, clock: 50, Running(1, 100, 1), Running(2, 101, 1), Running(3, 40, 1));
        Assert.Equal([3L, 1L], Planner().Ended(view, _ => true).Select(job => job.Job.Number));
        Assert.Equal([1L], Planner().Ended(view, job => job.Job.Number == 1).Select(job => job.Job.Number));
    }

    [Fact]
    public void After_the_last_start_everything_may_be_finished()
    {
        var view = new SchedulerView([], 0, 10, 50, 3, [Running(1, 1_000_000, 1)]);
        Assert.IsType<Step.Drain>(Planner().Next(view));
        Assert.Single(Planner().Ended(view, _ => true));
        Assert.IsType<Step.Done>(Planner().Next(view with { Running = [] }));
    }

    /// <summary>
    /// The two rules in the planner's remarks, attacked: replicas plan from views of any age, transactions commit in
    /// any order if only what they read is unchanged, and the schedule is still the plain one.
    /// </summary>
    [Theory]
    [InlineData(1, 8)]
    [InlineData(2, 8)]
    [InlineData(3, 16)]
    [InlineData(4, 3)]
    [InlineData(5, 128)]
    [InlineData(6, 128)]
    public void Old_views_and_any_commit_order_give_the_plain_schedule(ulong seed, int nodes)
    {
        var random = new ModelRandom(seed);
        // Few distinct times, so that ties of all kinds occur.
        var workload = new Workload("t", nodes, Enumerable.Range(0, 400).Select(i =>
            new Job(i, Draw(random, 300) * 5, Draw(random, 12) * 5,
                1 + Draw(random, Draw(random, 4) == 0 ? nodes : Math.Max(1, nodes / 4)), 1)));
        var model = new ReplicatedModel(workload, random);
        model.RunToEnd();
        Assert.Equal(
            ReferenceScheduler.Run(workload).ToDictionary(entry => entry.Job.Number, entry => entry.StartSeconds),
            model.Starts);
        Assert.True(model.Conflicts > 0, "no stale view was ever refused: the test shows nothing");
    }

    internal static int Draw(ModelRandom random, int below) => (int)(random.NextBits() % (ulong)below);

    private static Planner Planner(SchedulingLimits? limits = null) =>
        new(new Workload("t", 4, Enumerable.Range(0, 10).Select(i => new Job(i, 100, 10, 1, 1))),
            limits ?? new SchedulingLimits { PendingLowWater = 1 });

    private static string Started(SchedulerView view)
    {
        var step = (Step.Start)Planner().Next(view);
        return $"{string.Join(',', step.Jobs.Select(job => job.Number))} at {step.AtSeconds}";
    }

    private static SchedulerView View(int free, long clock, params RunningJob[] running) =>
        new([Wide], 1, 10, clock, free, running);

    private static RunningJob Running(long number, long finish, int nodes) =>
        new(new PendingJob(number, 0, finish, nodes, 1), 0);
}
