namespace Corfu.Checkers;

/// <summary>
/// Actions of a run's Tango clients. Every value written is unique in its run, and zero stands for "never written".
/// Equal values therefore mean equal versions, and the checker needs no version numbers from the product.
/// </summary>
public sealed class TxHistory
{
    public List<TxOp> Transactions { get; } = [];

    /// <summary>Whole views as replicas showed them, with the position they claimed to be at.</summary>
    public List<ViewSample> Views { get; } = [];

    /// <summary>Place of each written value in the log: position, then order in the entry. Found by a scan of the final
    /// log.</summary>
    public Dictionary<long, (long Position, int Order)> Places { get; } = [];

    /// <summary>R19: the values in the spills of large transactions, by position and index. They stand where their
    /// commit record does.</summary>
    public Dictionary<(long Position, int Index), List<long>> Spilled { get; } = [];

    /// <summary>R19: the commit record of a value stands further behind its first spill than the log's span
    /// allows.</summary>
    public HashSet<long> SpilledTooEarly { get; } = [];

    /// <summary>R29: values in commit records that the sequencer decided. They take effect, whatever is known of
    /// versions.</summary>
    public HashSet<long> Decided { get; } = [];

    /// <summary>R19: so far behind its first spill a commit record may stand.</summary>
    public long MaxSpan { get; init; } = long.MaxValue;

    /// <summary>R18: so many positions below an object's newest write the versions of its keys are kept.</summary>
    public long VersionAge { get; init; } = long.MaxValue;

    /// <summary>The key of an object to which each written value is a key of its own; null: none.</summary>
    public string? TicketKey { get; init; }

    public HistoryFacts Facts { get; } = new();

    /// <summary>R20: which commit records a client waited for when it had played up to a position.</summary>
    public List<AwaitedSample> Awaited { get; } = [];

    /// <summary>Notes the deletion of an object: a write of its own value, so that what was read before has
    /// changed.</summary>
    public void Delete(ulong id, long position, int order)
    {
        if (!Places.TryAdd(-(long)id, (position, order))) return;
        Transactions.Add(new TxOp(-1, 0, LogHistory.Never, TxDecision.Unknown, [],
            [KeyValuePair.Create(KeyOfTemporary(id), -(long)id)]));
    }

    /// <summary>An object that may be deleted is another key than the next one of its name.</summary>
    public static string KeyOfTemporary(ulong id) => $"object {id}";

    /// <summary>Past states that clients were shown.</summary>
    public List<PastState> Past { get; } = [];

    public List<FeedRead> Feeds { get; } = [];

    /// <summary>Positions whose writes have been noted: before a trim, or by the scan of the final log.</summary>
    public HashSet<long> Located { get; } = [];

    /// <summary>
    /// R23: whether a write has no effect, by its key, the value there before and its own. Part of the model: it knows
    /// the objects' rules without asking them.
    /// </summary>
    public Func<string, long, long, bool> Refuses { get; init; } = (_, _, _) => false;
}

public enum TxDecision
{
    Committed,
    Aborted,

    /// <summary>Told that the log refused it: it is not there.</summary>
    NotWritten,

    /// <summary>Never heard of, or told "in doubt": the model decides.</summary>
    Unknown,
}

/// <summary>A transaction, or a plain update or read, which is a transaction of its own.</summary>
public sealed record TxOp(
    int Client,
    long Start,
    long End,
    TxDecision Decision,
    IReadOnlyList<KeyValuePair<string, long>> Reads,
    IReadOnlyList<KeyValuePair<string, long>> Writes)
{
    /// <summary>Position from which on the reads saw nothing; null: the transaction had no snapshot, or none is
    /// known.</summary>
    public long? SnapshotEnd { get; init; }

    /// <summary>Objects of which it read a key that is not among its reads.</summary>
    public IReadOnlyList<string> Asked { get; init; } = [];

    /// <summary>Position of the write that its abort for a conflict named; null: it named none.</summary>
    public long? LostTo { get; init; }

    /// <summary>How many of its writes its caller was told to have been refused (R23); null: it was not told.</summary>
    public int? Refused { get; init; }

    public override string ToString()
        => $"tx of client {Client} [{Start},{(End == LogHistory.Never ? "-" : End)}] {Decision} "
            + $"read {{{string.Join(" ", Reads.Select(r => $"{r.Key}={r.Value}"))}}} wrote "
            + $"{{{string.Join(" ", Writes.Select(w => $"{w.Key}={w.Value}"))}}}";
}

/// <param name="Position">Everything below is in the view.</param>
public sealed record ViewSample(int Client, long Position, string Object, string State);

/// <param name="Position">Everything below is played.</param>
/// <param name="Members">Members of the cohort that the commit records concern.</param>
public sealed record AwaitedSample(
    int Client, long Position, string Object, IReadOnlyList<ulong> Members,
    IReadOnlyList<(long Position, int Index)> Commits);

/// <summary>Objects as a client was shown them, as of everything below a position.</summary>
public sealed record PastState(int Client, long Position, IReadOnlyList<KeyValuePair<string, long>> Reads);

/// <summary>Changes of a key that a client read from the log's beginning, however often it resumed.</summary>
public sealed record FeedRead(int Client, string Key)
{
    public List<FeedChange> Changes { get; } = [];
}

/// <param name="IsReset">Changes below were missed, and came to the value.</param>
/// <param name="Position">Position of the entry with the change; the value of a reset has everything below its
/// position.</param>
public readonly record struct FeedChange(bool IsReset, long Position, long Value);
