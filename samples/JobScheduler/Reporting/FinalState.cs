using System.Collections.Immutable;
using JobScheduler.Objects;

namespace JobScheduler.Reporting;

/// <summary>The shared state after the run, as a runtime that had no part in it plays it from the log.</summary>
public sealed record FinalState(
    IReadOnlyDictionary<long, FinishedJob> Finished,
    int Pending,
    int Running,
    int FreeNodes,
    ImmutableSortedDictionary<int, UserUsage> Usage,
    ImmutableSortedDictionary<int, ReplicaTotals> Replicas)
{
    public long Transactions => Replicas.Values.Sum(totals => totals.Total);
}
