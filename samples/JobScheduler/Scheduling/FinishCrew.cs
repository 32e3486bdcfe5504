using System.Collections.Immutable;
using JobScheduler.Objects;

namespace JobScheduler.Scheduling;

/// <summary>
/// Keeps a replica's finishing transactions under way beside its other work. Used by the replica's own loop only; the tasks it starts touch
/// nothing of it.
/// </summary>
internal sealed class FinishCrew(SchedulerTransactions transactions, int limit)
{
    private readonly Dictionary<long, Task> _underWay = [];

    /// <summary>Starts finishing those jobs that are not being finished already, up to the limit.</summary>
    public void Launch(ImmutableArray<RunningJob> jobs, CancellationToken cancellationToken)
    {
        Collect();
        foreach (RunningJob job in jobs)
        {
            if (_underWay.Count >= limit)
                return;
            if (!_underWay.ContainsKey(job.Job.Number))
                _underWay.Add(job.Job.Number, transactions.FinishAsync(job, enabling: false, cancellationToken));
        }
    }

    /// <summary>Finishes all the jobs of a step, side by side; those already under way are waited for.</summary>
    public async Task FinishAsync(Step.Finish step, CancellationToken cancellationToken)
    {
        var tasks = new List<Task>();
        foreach (RunningJob job in step.Earlier)
            tasks.Add(_underWay.TryGetValue(job.Job.Number, out Task? underWay) ? underWay : transactions.FinishAsync(job, enabling: false, cancellationToken));
        if (step.Enabling is { } enabling)
            tasks.Add(transactions.FinishAsync(enabling, enabling: true, cancellationToken));
        await Task.WhenAll(tasks);
    }

    /// <summary>Waits for the first of those under way; returns false if there is none.</summary>
    public async Task<bool> AnyAsync()
    {
        if (_underWay.Count == 0)
            return false;
        await Task.WhenAny(_underWay.Values);
        Collect();
        return true;
    }

    /// <summary>Waits for all, and throws what any of them threw.</summary>
    public Task AllAsync() => Task.WhenAll(_underWay.Values);

    private void Collect()
    {
        foreach ((long number, Task task) in _underWay)
        {
            if (!task.IsCompleted)
                continue;
            task.GetAwaiter().GetResult();
            _underWay.Remove(number);
        }
    }
}
