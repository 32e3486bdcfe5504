namespace Corfu.Simulation.Checkers;

/// <summary>
/// What the Tango clients of a run did. Every value written is unique in its run (zero stands for "never written"), so that
/// equal values mean equal versions and the checker needs no version numbers from the product.
/// </summary>
public sealed class TxHistory
{
    public List<TxOp> Transactions { get; } = [];

    /// <summary>Whole views as replicas showed them, with the position they claimed to be at.</summary>
    public List<ViewSample> Views { get; } = [];

    /// <summary>Where each written value stands in the log: position, then order in the entry. From a scan of the final log.</summary>
    public Dictionary<long, (long Position, int Order)> Places { get; } = [];
}

public enum TxDecision
{
    Committed,
    Aborted,

    /// <summary>Never heard of, or told "in doubt": the model decides.</summary>
    Unknown,
}

/// <summary>One transaction, or one plain update or read, which is a transaction of its own.</summary>
public sealed record TxOp(
    int Client,
    long Start,
    long End,
    TxDecision Decision,
    IReadOnlyList<KeyValuePair<string, long>> Reads,
    IReadOnlyList<KeyValuePair<string, long>> Writes)
{
    public override string ToString()
        => $"tx of client {Client} [{Start},{(End == LogHistory.Never ? "-" : End)}] {Decision} "
            + $"read {{{string.Join(" ", Reads.Select(r => $"{r.Key}={r.Value}"))}}} wrote {{{string.Join(" ", Writes.Select(w => $"{w.Key}={w.Value}"))}}}";
}

/// <param name="Position">Everything below is in the view.</param>
public sealed record ViewSample(int Client, long Position, string Object, string State);
