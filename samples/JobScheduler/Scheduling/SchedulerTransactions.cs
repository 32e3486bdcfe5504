using System.Collections.Immutable;
using JobScheduler.Objects;
using JobScheduler.Workloads;
using Tango;
using Tango.Collections;

namespace JobScheduler.Scheduling;

/// <summary>
/// The transactions of one replica. Each re-reads, inside, what its plan relied on; the first replica to commit wins,
/// and the others are told that theirs did not happen.
/// </summary>
public sealed class SchedulerTransactions(TangoRuntime runtime, SchedulerState state, int replica,
    ReplicaCounters counters)
{
    /// <summary>Ties this state to a workload and makes its node pool, unless that has been done.</summary>
    /// <returns>The fingerprint that the state is tied to.</returns>
    public async Task<string> SetUpAsync(Workload workload, CancellationToken cancellationToken)
    {
        string fingerprint = workload.Fingerprint();
        string? owner = null;
        while (owner is null)
        {
            await CommitAsync(
                TransactionKind.Other,
                () => 0,
                async () =>
                {
                    owner = await state.Workload.ReadAsync(cancellationToken);
                    if (owner is not null)
                        return false;
                    await state.Workload.WriteAsync(fingerprint, cancellationToken);
                    await state.Nodes.CreateAsync(workload.Nodes, cancellationToken);
                    return true;
                },
                cancellationToken);
            if (owner is null)
                await state.SyncAsync(cancellationToken);
        }

        return owner;
    }

    /// <summary>Submits jobs of the workload in first-come order, unless another replica was first.</summary>
    public Task<bool> SubmitAsync(Workload workload, Step.Submit step, CancellationToken cancellationToken) =>
        CommitAsync(
        TransactionKind.Submit,
        () => step.Count,
        async () =>
        {
            if (await state.Submitted.ReadAsync(cancellationToken) != step.From)
                return false;
            for (int i = step.From; i < step.From + step.Count; i++)
                await state.Pending.EnqueueAsync(PendingJob.From(workload.Jobs[i]), cancellationToken);
            await state.Submitted.WriteAsync(step.From + step.Count, cancellationToken);
            return true;
        },
        cancellationToken);

    /// <summary>
    /// Starts the jobs if they are still the first pending ones and the clock is where the plan saw it: pending ->
    /// nodes -> running.
    /// </summary>
    public Task<bool> StartAsync(Step.Start step, CancellationToken cancellationToken) => CommitAsync(
        TransactionKind.Start,
        () => step.Jobs.Length,
        async () =>
        {
            long clock = await state.Clock.ReadAsync(cancellationToken);
            if (Math.Max(clock, step.Jobs[0].SubmitSeconds) != step.AtSeconds)
                return false;
            foreach (PendingJob job in step.Jobs)
            {
                Lookup<PendingJob> head = await state.Pending.TryDequeueAsync(cancellationToken);
                if (!head.Found || head.Value != job)
                    return false;
                await state.Nodes.AllocateAsync(job.Number, job.Nodes, cancellationToken);
                await state.Running.SetAsync(job.Number, new RunningJob(job, step.AtSeconds), cancellationToken);
            }

            if (step.AtSeconds > clock)
                await state.Clock.WriteAsync(step.AtSeconds, cancellationToken);
            return true;
        },
        cancellationToken);

    /// <summary>
    /// Finishes those of the jobs that still run: running -> finished, nodes given back, usage charged. The planner's
    /// rule on enabling finishes is kept here: such a one takes the clock along.
    /// </summary>
    public Task<bool> FinishAsync(Step.Finish step, CancellationToken cancellationToken)
    {
        int finished = 0;
        return CommitAsync(
            TransactionKind.Finish,
            () => finished,
            async () =>
            {
                foreach (RunningJob job in step.Jobs)
                {
                    if (!(await state.Running.TakeAsync(job.Job.Number, cancellationToken)).Found)
                        continue;
                    finished++;
                    if (job == step.Enabling && await state.Clock.ReadAsync(cancellationToken) < job.FinishSeconds)
                        await state.Clock.WriteAsync(job.FinishSeconds, cancellationToken);
                    await FinishAsync(job, cancellationToken);
                }

                return finished > 0;
            },
            cancellationToken);
    }

    private async Task FinishAsync(RunningJob job, CancellationToken cancellationToken)
    {
        long number = job.Job.Number;
        ImmutableArray<NodeRange> nodes = await state.Nodes.HeldAsync(number, cancellationToken);
        await state.Nodes.ReleaseAsync(number, cancellationToken);
        await state.Finished.SetAsync(number, new FinishedJob(job.Job, job.StartSeconds, nodes), cancellationToken);
        await state.Usage.ChargeAsync(job.Job.User, job.Job.NodeSeconds, cancellationToken);
    }

    /// <summary>Runs one transaction once. A loser is not retried as it was: the state it lost to decides what comes
    /// next.</summary>
    /// <param name="jobs">How many jobs it concerns, asked after the body.</param>
    /// <param name="body">Returns false to give up: the state is no longer what the plan saw.</param>
    private async Task<bool> CommitAsync(TransactionKind kind, Func<int> jobs, Func<Task<bool>> body,
        CancellationToken cancellationToken)
    {
        await using TangoTransaction transaction = runtime.BeginTx();
        try
        {
            if (!await body())
                return false;
            await state.Tally.CountAsync(replica, kind, jobs(), cancellationToken);
        }
        catch (TangoRejectedException)
        {
            // The view was older than the plan's state allows for; the next view tells.
            counters.Aborted();
            return false;
        }

        switch (await transaction.EndTxAsync(cancellationToken))
        {
            case TxOutcome.Committed { RejectedWrites: > 0 } committed:
                throw new InvalidOperationException(
                    $"{committed.RejectedWrites} writes of a {kind} transaction were rejected when they were applied.");
            case TxOutcome.Committed:
                counters.Committed();
                return true;
            case TxOutcome.Aborted:
                counters.Aborted();
                return false;
            default:
                // In doubt: it may be in the log or not. Playing the log tells, and nothing here can happen twice.
                counters.InDoubt();
                return false;
        }
    }
}
