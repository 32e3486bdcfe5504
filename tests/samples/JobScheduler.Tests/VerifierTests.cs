using System.Collections.Immutable;
using JobScheduler.Objects;
using JobScheduler.Reference;
using JobScheduler.Reporting;
using JobScheduler.Workloads;

namespace JobScheduler.Tests;

/// <summary>The check at the end must be able to fail, in each of its parts.</summary>
public sealed class VerifierTests
{
    private static readonly Workload Two = new("t", 4, [new Job(1, 0, 10, 4, 7), new Job(2, 5, 10, 2, 7)]);

    [Fact]
    public void A_right_run_passes()
    {
        Verdict verdict = Verifier.Check(Two, Right());
        Assert.Empty(verdict.Faults);
        Assert.Equal(
            "jobs=2 done=2 lost=0 duplicate=0 overcommitted=0 nodes_free=4 schedule=match transactions=5 aborted=3 "
            + "seconds=1.50",
            Summary.LastLine(Right(), new RunFigures(TimeSpan.FromSeconds(1.5), 5, 3, TimeSpan.FromMilliseconds(1), 0),
                verdict));
    }

    [Fact]
    public void A_lost_job_is_found()
    {
        FinalState state = Right();
        Verdict verdict = Verifier.Check(Two,
            state with { Finished = state.Finished.Where(pair => pair.Key == 1).ToDictionary() });
        Assert.Equal((1, 1, false, false), (verdict.Done, verdict.Lost, verdict.ScheduleMatches, verdict.Ok));
    }

    [Fact]
    public void A_repeated_execution_is_found()
    {
        FinalState state = Right();
        Verdict verdict = Verifier.Check(Two,
            state with { Replicas = state.Replicas.SetItem(1, new ReplicaTotals(0, 1, 0, 0, 1, 0)) });
        Assert.Equal((1L, false), (verdict.Duplicate, verdict.Ok));
    }

    [Fact]
    public void A_wrong_start_time_is_found()
    {
        FinalState state = With(Right(), 2, job => job with { StartSeconds = 11 });
        Verdict verdict = Verifier.Check(Two, state);
        Assert.Equal((false, false), (verdict.ScheduleMatches, verdict.Ok));
    }

    [Fact]
    public void A_node_given_twice_is_found()
    {
        FinalState state = With(Right(), 2, job => job with { StartSeconds = 9 });
        Assert.Equal(1, Verifier.Check(Two, state).Overcommitted);
    }

    [Theory]
    [InlineData(3, 2)]
    [InlineData(-1, 2)]
    [InlineData(0, 1)]
    public void Nodes_that_do_not_exist_or_do_not_suffice_are_found(int first, int count)
    {
        FinalState state = With(Right(), 2, job => job with { Nodes = [new NodeRange(first, count)] });
        Assert.Equal(1, Verifier.Check(Two, state).Overcommitted);
    }

    [Fact]
    public void Nodes_not_given_back_and_usage_that_does_not_add_up_are_found()
    {
        Assert.False(Verifier.Check(Two, Right() with { FreeNodes = 3 }).Ok);
        Assert.False(Verifier.Check(Two, Right() with { Running = 1 }).Ok);
        Assert.False(Verifier.Check(Two, Right() with { Usage = ImmutableSortedDictionary<int, UserUsage>.Empty }).Ok);
    }

    [Fact]
    public void The_summary_shows_waits_utilisation_and_shares()
    {
        FinalState state = Right();
        string text = string.Join('\n', Summary.Lines(
            Two, state, new RunFigures(TimeSpan.FromSeconds(2), 5, 3, TimeSpan.FromMilliseconds(500), 0),
            Verifier.Check(Two, state)));
        Assert.Contains("mean 00:00:02, max 00:00:05; 1 jobs waited", text);
        Assert.Contains("75.0", text);
        Assert.Contains("2.00 of them per job", text);
        Assert.Contains("replica 0", text);
    }

    private static FinalState Right() => new(
        ReferenceScheduler.Run(Two).ToDictionary(
            entry => entry.Job.Number,
            entry => new FinishedJob(PendingJob.From(entry.Job), entry.StartSeconds,
                [new NodeRange(0, entry.Job.Nodes)])),
        0,
        0,
        4,
        ImmutableSortedDictionary<int, UserUsage>.Empty.Add(7, new UserUsage(2, 60)),
        ImmutableSortedDictionary<int, ReplicaTotals>.Empty.Add(0, new ReplicaTotals(1, 2, 2, 0, 2, 2)));

    private static FinalState With(FinalState state, long number, Func<FinishedJob, FinishedJob> change) =>
        state
            with
        {
            Finished = state.Finished.ToDictionary(pair => pair.Key,
                pair => pair.Key == number ? change(pair.Value) : pair.Value)
        };
}
