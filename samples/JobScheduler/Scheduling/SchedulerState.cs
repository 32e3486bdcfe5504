using System.Collections.Immutable;
using JobScheduler.Objects;
using JobScheduler.Reporting;
using Tango;
using Tango.Collections;

namespace JobScheduler.Scheduling;

/// <summary>The whole state of the service: objects of one co-hosted group, as one runtime has them open.</summary>
[TangoContext("job-scheduler")]
public sealed partial class SchedulerState : TangoContext
{
    /// <summary>Fingerprint of the workload this state belongs to; null before the set-up.</summary>
    public partial TangoRegister<string> Workload { get; }

    /// <summary>How many jobs have been submitted, in first-come order: what makes submitting idempotent.</summary>
    public partial TangoRegister<int> Submitted { get; }

    public partial TangoQueue<PendingJob> Pending { get; }

    public partial TangoDictionary<long, RunningJob> Running { get; }

    public partial TangoDictionary<long, FinishedJob> Finished { get; }

    public partial UsageLedger Usage { get; }

    public partial NodePool Nodes { get; }

    public partial TangoRegister<long> Clock { get; }

    public partial TransactionTally Tally { get; }

    /// <summary>The state of one run; a log may hold several.</summary>
    public static ValueTask<SchedulerState> OpenRunAsync(TangoRuntime runtime, string run,
        CancellationToken cancellationToken) => OpenAsync(runtime, $"job-scheduler/{run}", cancellationToken);

    /// <summary>State that this runtime has played so far, all at one position. A transaction that is never ended reads
    /// it: that costs no message, and conflicts with no transaction.</summary>
    /// <param name="heads">How many of the first pending jobs are wanted.</param>
    public async ValueTask<SchedulerView> ViewAsync(int heads, CancellationToken cancellationToken)
    {
        await using TangoTransaction snapshot = BeginTx();
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
        await SyncAsync(cancellationToken);
        await using TangoTransaction snapshot = BeginTx();
        return new FinalState(
            await Finished.SnapshotAsync(cancellationToken),
            await Pending.CountAsync(cancellationToken),
            await Running.CountAsync(cancellationToken),
            await Nodes.FreeAsync(cancellationToken),
            await Usage.SnapshotAsync(cancellationToken),
            await Tally.SnapshotAsync(cancellationToken));
    }
}
