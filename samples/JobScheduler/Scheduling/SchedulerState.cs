using System.Collections.Immutable;
using JobScheduler.Objects;
using JobScheduler.Reporting;
using Tango;
using Tango.Collections;

namespace JobScheduler.Scheduling;

/// <summary>The whole state of the service: objects of one co-hosted group, as one runtime has them open.</summary>
public sealed class SchedulerState
{
    private readonly TangoRuntime _runtime;

    private SchedulerState(TangoRuntime runtime) => _runtime = runtime;

    /// <summary>Fingerprint of the workload this state belongs to; null before the set-up.</summary>
    public required TangoRegister<string> Workload { get; init; }

    /// <summary>How many jobs have been submitted, in first-come order: what makes submitting idempotent.</summary>
    public required TangoRegister<int> Submitted { get; init; }

    public required TangoQueue<PendingJob> Pending { get; init; }

    public required TangoDictionary<long, RunningJob> Running { get; init; }

    public required TangoDictionary<long, FinishedJob> Finished { get; init; }

    public required UsageLedger Usage { get; init; }

    public required NodePool Nodes { get; init; }

    public required TangoRegister<long> Clock { get; init; }

    public required TransactionTally Tally { get; init; }

    /// <summary>Opens the group, creating it when the log has none of that name.</summary>
    public static async Task<SchedulerState> OpenAsync(TangoRuntime runtime, string name,
        CancellationToken cancellationToken)
    {
        // Names are the directory's, which all runs in one log share.
        string prefix = $"job-scheduler/{name}";
        SchedulerState? state = null;
        await runtime.OpenGroupAsync(
            prefix,
            group => state = new SchedulerState(runtime)
            {
                Workload = group.Add<TangoRegister<string>>($"{prefix}/workload"),
                Submitted = group.Add<TangoRegister<int>>($"{prefix}/submitted"),
                Pending = group.Add<TangoQueue<PendingJob>>($"{prefix}/pending"),
                Running = group.Add<TangoDictionary<long, RunningJob>>($"{prefix}/running"),
                Finished = group.Add<TangoDictionary<long, FinishedJob>>($"{prefix}/finished"),
                Usage = group.Add<UsageLedger>($"{prefix}/usage"),
                Nodes = group.Add<NodePool>($"{prefix}/nodes"),
                Clock = group.Add<TangoRegister<long>>($"{prefix}/clock"),
                Tally = group.Add<TransactionTally>($"{prefix}/tally"),
            },
            cancellationToken);
        return state!;
    }

    /// <summary>Plays the log up to everything that was acknowledged before the call.</summary>
    public ValueTask RefreshAsync(CancellationToken cancellationToken) => _runtime.SyncAsync(cancellationToken);

    /// <summary>
    /// What this runtime has played so far, all at one position. A transaction that is never ended: it costs no
    /// message, and reading it conflicts with no transaction.
    /// </summary>
    /// <param name="heads">How many of the first pending jobs are wanted.</param>
    public async ValueTask<SchedulerView> ViewAsync(int heads, CancellationToken cancellationToken)
    {
        await using TangoTransaction snapshot = _runtime.BeginTx();
        ImmutableList<PendingJob> pending = await Pending.SnapshotAsync(cancellationToken);
        ImmutableDictionary<long, RunningJob> running = await Running.SnapshotAsync(cancellationToken);
        return new SchedulerView(
            [.. pending.Take(heads)],
            pending.Count,
            await Submitted.ReadAsync(cancellationToken),
            await Clock.ReadAsync(cancellationToken),
            await Nodes.FreeAsync(cancellationToken),
            [.. running.Values]);
    }

    /// <summary>The state at the log's tail, for the final check.</summary>
    public async ValueTask<FinalState> FinalAsync(CancellationToken cancellationToken)
    {
        await RefreshAsync(cancellationToken);
        await using TangoTransaction snapshot = _runtime.BeginTx();
        return new FinalState(
            await Finished.SnapshotAsync(cancellationToken),
            await Pending.CountAsync(cancellationToken),
            await Running.CountAsync(cancellationToken),
            await Nodes.FreeAsync(cancellationToken),
            await Usage.SnapshotAsync(cancellationToken),
            await Tally.SnapshotAsync(cancellationToken));
    }
}
