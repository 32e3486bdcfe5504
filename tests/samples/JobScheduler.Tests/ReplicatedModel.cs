using System.Collections.Immutable;
using JobScheduler.Objects;
using JobScheduler.Scheduling;
using JobScheduler.Workloads;
using JobScheduler.Workloads.Model;

namespace JobScheduler.Tests;

/// <summary>
/// The shared state without a log: every committed transaction makes a new version. A transaction planned on an old
/// version commits iff what it read is the same now, which is exactly what Tango checks.
/// </summary>
internal sealed class ReplicatedModel(Workload workload, ModelRandom random)
{
    private const int OldestView = 6;

    private readonly Planner _planner =
        new(workload, new SchedulingLimits { SubmitBatch = 7, PendingLowWater = 3, FinishBatch = 4, StartBatch = 3 });
    private readonly List<State> _versions = [new State(workload.Nodes)];

    public Dictionary<long, long> Starts { get; } = [];

    public int Conflicts { get; private set; }

    private State Now => _versions[^1];

    public void RunToEnd()
    {
        // Far more than is needed: no progress for so long is a deadlock.
        for (int i = 0; i < 400_000; i++)
        {
            State seen = _versions[Math.Max(0, _versions.Count - 1 - PlannerTests.Draw(random, OldestView))];
            SchedulerView view = seen.View;
            if (PlannerTests.Draw(random, 2) == 0)
            {
                ImmutableArray<RunningJob> ended = _planner.Ended(view, _ => PlannerTests.Draw(random, 2) == 0);
                foreach (RunningJob job in ended)
                    Finish(seen, job, enabling: false);
                continue;
            }

            switch (_planner.Next(view))
            {
                case Step.Submit submit when submit.From == Now.Submitted:
                    Commit(Now with
                    {
                        Submitted = submit.From + submit.Count,
                        Queue = Now.Queue.AddRange(workload.Jobs.Skip(submit.From).Take(submit.Count)
                            .Select(PendingJob.From)),
                    });
                    break;
                case Step.Start start:
                    Start(seen, start);
                    break;
                case Step.Finish finish:
                    FinishSome(seen, finish);
                    break;
                case Step.Done when Now == seen:
                    return;
                default:
                    break;
            }
        }

        Assert.Fail("the replicas made no progress");
    }

    private void Start(State seen, Step.Start start)
    {
        if (!Now.Queue.Take(start.Jobs.Length).SequenceEqual(start.Jobs) || Now.ClockVersion != seen.ClockVersion)
        {
            Conflicts++;
            return;
        }

        Assert.True(Now.Free >= start.Jobs.Sum(job => job.Nodes),
            "a start that was planned on enough nodes finds too few");
        foreach (PendingJob job in start.Jobs)
            Starts.Add(job.Number, start.AtSeconds);
        Commit((start.AtSeconds > Now.Clock ? Now.WithClock(start.AtSeconds) : Now) with
        {
            Queue = Now.Queue.RemoveRange(0, start.Jobs.Length),
            Free = Now.Free - start.Jobs.Sum(job => job.Nodes),
            Running =
                Now.Running.AddRange(
                    start.Jobs.Select(job => KeyValuePair.Create(job.Number, new RunningJob(job, start.AtSeconds)))),
        });
    }

    // Any subset in any order: replicas crash between transactions.
    private void FinishSome(State seen, Step.Finish finish)
    {
        if (finish.Enabling is { } first && PlannerTests.Draw(random, 2) == 0)
            Finish(seen, first, enabling: true);
        foreach (RunningJob job in finish.Jobs.Where(job => job != finish.Enabling))
        {
            if (PlannerTests.Draw(random, 3) > 0)
                Finish(seen, job, enabling: false);
        }

        if (finish.Enabling is { } last && PlannerTests.Draw(random, 2) == 0)
            Finish(seen, last, enabling: true);
    }

    private void Finish(State seen, RunningJob job, bool enabling)
    {
        bool moves = enabling && job.FinishSeconds > seen.Clock;
        if (!Now.Running.ContainsKey(job.Job.Number) || (enabling && Now.ClockVersion != seen.ClockVersion))
        {
            Conflicts++;
            return;
        }

        Commit((moves ? Now.WithClock(job.FinishSeconds) : Now) with
        {
            Free = Now.Free + job.Job.Nodes,
            Running = Now.Running.Remove(job.Job.Number),
        });
    }

    private void Commit(State state) => _versions.Add(state);

    private sealed record State(int Free)
    {
        public int Submitted { get; init; }

        public ImmutableList<PendingJob> Queue { get; init; } = [];

        public ImmutableDictionary<long, RunningJob> Running { get; init; } =
            ImmutableDictionary<long, RunningJob>.Empty;

        public long Clock { get; private init; }

        public int ClockVersion { get; private init; }

        public SchedulerView View => new(
            [.. Queue.Take(3)], Queue.Count, Submitted, Clock, Free, [.. Running.Values]);

        public State WithClock(long clock) => this with { Clock = clock, ClockVersion = ClockVersion + 1 };
    }
}
