namespace JobScheduler.Scheduling;

/// <summary>Counts of one replica's work in this process. Safe for concurrent use.</summary>
public sealed class ReplicaCounters
{
    private long _committed;
    private long _aborted;
    private long _inDoubt;

    public long CommittedCount => Interlocked.Read(ref _committed);

    public long AbortedCount => Interlocked.Read(ref _aborted);

    /// <summary>Transactions whose outcome the log did not tell at once; playing it decides them.</summary>
    public long InDoubtCount => Interlocked.Read(ref _inDoubt);

    internal void Committed() => Interlocked.Increment(ref _committed);

    internal void Aborted() => Interlocked.Increment(ref _aborted);

    internal void InDoubt() => Interlocked.Increment(ref _inDoubt);
}
