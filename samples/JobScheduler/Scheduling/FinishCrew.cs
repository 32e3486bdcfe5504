using System.Collections.Immutable;
using JobScheduler.Objects;

namespace JobScheduler.Scheduling;

/// <summary>
/// Keeps a replica's finishing transaction under way beside its other work. Used by the replica's own loop only; the
/// task it starts touches nothing of it.
/// </summary>
internal sealed class FinishCrew(SchedulerTransactions transactions)
{
    private ImmutableArray<RunningJob> _jobs = [];
    private Task _underWay = Task.CompletedTask;

    /// <summary>Something is under way.</summary>
    public bool IsBusy => !_underWay.IsCompleted;

    /// <summary>Starts finishing these jobs, unless others are under way.</summary>
    /// <exception cref="Exception">The failure of the launch before.</exception>
    public void Launch(ImmutableArray<RunningJob> jobs, CancellationToken cancellationToken)
    {
        if (IsBusy)
            return;
        _underWay.GetAwaiter().GetResult();
        _jobs = jobs;
        _underWay =
            jobs.IsEmpty
                ? Task.CompletedTask
                : transactions.FinishAsync(new Step.Finish(jobs, null), cancellationToken);
    }

    /// <summary>Finishes all the jobs of a step; those that are under way already are waited for.</summary>
    public async Task FinishAsync(Step.Finish step, CancellationToken cancellationToken)
    {
        if (!IsBusy)
        {
            await transactions.FinishAsync(step, cancellationToken);
            return;
        }

        ImmutableArray<RunningJob> others = step.Jobs.RemoveAll(job => _jobs.Contains(job));
        if (!others.IsEmpty)
            await transactions.FinishAsync(step with { Jobs = others }, cancellationToken);
        if (others.Length < step.Jobs.Length)
            await _underWay;
    }

    /// <summary>Waits for what is under way.</summary>
    public Task AllAsync() => _underWay;
}
