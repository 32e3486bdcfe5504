namespace Corfu.FaultRuns.Objects.Clients;

/// <summary>A transaction over several chains as its client recorded it.</summary>
/// <param name="Parts">For each chain a call with its tests, acts and, if it is committed, what it saw. After a
/// mismatch the part that refused says so.</param>
public sealed record StoreTransaction(string Id, long Start, long End, TxFate Fate, IReadOnlyList<ObjectCall> Parts)
{
    public override string ToString() => $"{Id} ({Fate}) {string.Join("; ", Parts)}";
}
