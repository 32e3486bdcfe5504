namespace Craq;

/// <summary>The outcome of a transaction.</summary>
public enum CraqTransactionOutcome
{
    /// <summary>All parts are committed.</summary>
    Committed = 0,

    /// <summary>Nothing was written, and nothing will be.</summary>
    Aborted = 1,

    /// <summary>All parts are committed, will be, or none ever is. Reading the objects tells more.</summary>
    Unknown = 2,
}

/// <summary>Why a transaction was aborted.</summary>
public enum CraqTransactionRefusal
{
    /// <summary>The transaction was not aborted.</summary>
    None = 0,

    /// <summary>A compare failed, or an operation did not fit its object.</summary>
    Mismatch = 1,

    /// <summary>Another transaction held a key: try again.</summary>
    Locked = 2,

    /// <summary>A chain did not vote in time, or had no room: <see cref="CraqTransactionResult.Status"/> says
    /// which.</summary>
    Unavailable = 3,
}

/// <summary>The outcome of a transaction.</summary>
public sealed class CraqTransactionResult
{
    private readonly ImmutableDictionary<ChainId, CommittedPart> _parts;

    internal CraqTransactionResult(
        CraqTransactionOutcome outcome, ImmutableDictionary<ChainId, CommittedPart>? parts = null) =>
        (Outcome, _parts) = (outcome, parts ?? ImmutableDictionary<ChainId, CommittedPart>.Empty);

    public CraqTransactionOutcome Outcome { get; }

    public bool IsCommitted => Outcome == CraqTransactionOutcome.Committed;

    public CraqTransactionRefusal Refusal { get; internal init; }

    /// <summary>The chain that refused its part of an aborted transaction.</summary>
    public ChainId RefusedBy { get; internal init; }

    /// <summary>The compare that failed, after a mismatch, in the order of the part's builder; behind the last one,
    /// the operation that did not fit its object. -1: none.</summary>
    public int MismatchIndex { get; internal init; } = -1;

    /// <summary>The version of the object that did not fit, after a mismatch.</summary>
    public ObjectVersion MismatchVersion { get; internal init; }

    /// <summary>The answer of the chain after <see cref="CraqTransactionRefusal.Unavailable"/>.</summary>
    public Status Status { get; internal init; }

    /// <summary>The objects that the part of a chain read, as they were before the writes: together with those of the
    /// other parts a snapshot. Empty unless the transaction is committed.</summary>
    public ImmutableArray<StoredObject> Reads(CraqChain chain) => _parts.TryGetValue(chain.Id, out var part)
        ? [.. part.Result.Reads.Select(found => new StoredObject(found, -1))]
        : [];

    /// <summary>The sums of the additions of a chain's part, in order.</summary>
    public ImmutableArray<ulong> Sums(CraqChain chain) =>
        _parts.TryGetValue(chain.Id, out var part) ? part.Result.Sums : [];

    /// <summary>The version that a chain's part has written; none: the transaction is not committed.</summary>
    public ObjectVersion VersionOf(CraqChain chain) => _parts.GetValueOrDefault(chain.Id)?.Version ?? default;
}
