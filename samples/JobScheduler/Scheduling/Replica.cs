using System.Collections.Immutable;
using JobScheduler.Objects;
using JobScheduler.Workloads;
using Tango;

namespace JobScheduler.Scheduling;

/// <summary>
/// A scheduler replica: its own runtime and views, no channel to the others but the log. It starts jobs while it is
/// its turn, and all the time finishes its share of the jobs that have ended.
/// </summary>
public sealed class Replica
{
    private readonly int _id;
    private readonly int _replicas;
    private readonly Workload _workload;
    private readonly SchedulingLimits _limits;
    private readonly SchedulerState _state;
    private readonly SchedulerTransactions _transactions;
    private readonly Planner _planner;
    private readonly FinishCrew _crew;
    private readonly TurnWatch _turns;
    private SchedulerView? _latest;
    private int _startLimit = int.MaxValue;

    public Replica(int id, int replicas, Workload workload, SchedulingLimits limits, TangoRuntime runtime,
        SchedulerState state, TimeProvider time)
    {
        _id = id;
        _replicas = replicas;
        _workload = workload;
        _limits = limits;
        _state = state;
        _transactions = new SchedulerTransactions(runtime, state, id, Counters);
        _planner = new Planner(workload, limits);
        _crew = new FinishCrew(_transactions);
        _turns = new TurnWatch(id, replicas, limits, time);
    }

    public ReplicaCounters Counters { get; } = new();

    /// <summary>The newest view the replica worked with; null before the first. Readable from any thread.</summary>
    public SchedulerView? LatestView => Volatile.Read(ref _latest);

    /// <summary>The replica starts no more jobs once the shared state shows so many started ones. Settable from any
    /// thread.</summary>
    public int StartLimit
    {
        get => Volatile.Read(ref _startLimit);
        set => Volatile.Write(ref _startLimit, value);
    }

    /// <summary>Ties the state to the workload; returns the fingerprint it is tied to.</summary>
    public Task<string> SetUpAsync(CancellationToken cancellationToken) =>
        _transactions.SetUpAsync(_workload, cancellationToken);

    /// <summary>Works until all jobs are finished.</summary>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        await _state.SyncAsync(cancellationToken);
        while (true)
        {
            SchedulerView view = await _state.ViewAsync(_limits.StartBatch, cancellationToken);
            Volatile.Write(ref _latest, view);
            bool mine = _turns.IsMine(view);
            Step step = _planner.Next(view);
            LaunchFinishes(view, isStarting: mine && step is Step.Start, cancellationToken);
            switch (step)
            {
                case Step.Done:
                    await _crew.AllAsync();
                    return;
                case Step.Submit submit when mine:
                    await ProgressAsync(_transactions.SubmitAsync(_workload, submit, cancellationToken),
                        cancellationToken);
                    break;
                case Step.Start start when mine && view.Started < StartLimit:
                    await ProgressAsync(_transactions.StartAsync(start, cancellationToken), cancellationToken);
                    break;
                case Step.Finish finish when mine:
                    await _crew.FinishAsync(finish, cancellationToken);
                    break;
                default:
                    await WaitAsync(cancellationToken);
                    break;
            }
        }
    }

    // No start waits for these finishes, so they go in groups; larger ones while this replica starts jobs, which would
    // wait for them.
    private void LaunchFinishes(SchedulerView view, bool isStarting, CancellationToken cancellationToken)
    {
        ImmutableArray<RunningJob> ended = _planner.Ended(view, _turns.IsStalled ? _ => true : IsMine);
        _crew.Launch(ended.Length >= (isStarting ? _limits.FinishesBesideStarts : 1) ? ended : [], cancellationToken);
    }

    // Numbers of real traces come in patterns, so they are mixed before they are shared out.
    private bool IsMine(RunningJob job) => (int)(((ulong)job.Job.Number * 0x9E3779B97F4A7C15) >> 33) % _replicas == _id;

    // A step that was given up shows that others went ahead.
    private async Task ProgressAsync(Task<bool> step, CancellationToken cancellationToken)
    {
        if (!await step)
            await _state.SyncAsync(cancellationToken);
    }

    private async Task WaitAsync(CancellationToken cancellationToken)
    {
        if (_crew.IsBusy)
            await _crew.AllAsync();
        else
            await Task.Delay(_turns.PollInterval, cancellationToken);
        await _state.SyncAsync(cancellationToken);
    }
}
