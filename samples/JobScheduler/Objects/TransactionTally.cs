using System.Collections.Immutable;
using Tango;

namespace JobScheduler.Objects;

/// <summary>
/// Counts committed transactions per replica, inside those transactions: the counts survive kills of the process, and
/// an execution that happened twice cannot hide.
/// </summary>
[TangoObject("job-scheduler/tally")]
public sealed partial class TransactionTally : TangoObject
{
    private ImmutableSortedDictionary<int, ReplicaTotals> _replicas =
        ImmutableSortedDictionary<int, ReplicaTotals>.Empty;

    [Mutator(1)]
    public partial ValueTask CountAsync([VersionKey] int replica, TransactionKind kind, int jobs,
        CancellationToken cancellationToken = default);

    [Accessor]
    public partial ValueTask<ImmutableSortedDictionary<int, ReplicaTotals>> SnapshotAsync(
        CancellationToken cancellationToken = default);

    private void ApplyCount(int replica, TransactionKind kind, int jobs)
    {
        ReplicaTotals old = _replicas.GetValueOrDefault(replica);
        _replicas = _replicas.SetItem(replica, kind switch
        {
            TransactionKind.Submit => old with { Submits = old.Submits + 1 },
            TransactionKind.Start => old with { Starts = old.Starts + 1, JobsStarted = old.JobsStarted + jobs },
            TransactionKind.Finish => old with { Finishes = old.Finishes + 1, JobsFinished = old.JobsFinished + jobs },
            _ => old with { Others = old.Others + 1 },
        });
    }

    private ImmutableSortedDictionary<int, ReplicaTotals> ReadSnapshot() => _replicas;
}
