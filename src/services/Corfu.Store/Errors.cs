namespace Corfu.Store;

/// <summary>Root of the store's refusals. Nothing was done, unless the exception says otherwise.</summary>
public class StoreException(string message, Exception? inner = null) : TangoException(message, inner);

/// <summary>The write was sent, and its outcome could not be learnt: <see cref="CorfuStore.ResolveAsync"/> finds out.
/// The store never sends it again.</summary>
public sealed class StoreInDoubtException : StoreException
{
    /// <param name="changesKeys">Whether a write that changes no key has done nothing.</param>
    internal StoreInDoubtException(TangoInDoubtException doubt, bool changesKeys)
        : base($"It is not known whether the write took effect: {doubt.Message}", doubt) =>
        (Doubt, ChangesKeys) = (doubt, changesKeys);

    internal TangoInDoubtException Doubt { get; }

    internal bool ChangesKeys { get; }
}

/// <summary>The revision was compacted.</summary>
public sealed class StoreCompactedException(long revision, long oldest)
    : StoreException($"Revision {revision} was compacted: {oldest} is the oldest.")
{
    /// <summary>The oldest revision that can be read or watched from.</summary>
    public long Oldest { get; } = oldest;
}

/// <summary>The store has not come to the revision.</summary>
public sealed class StoreRevisionAheadException(long revision, long newest)
    : StoreException($"There is no revision {revision} yet: {newest} is the newest.")
{
    public long Newest { get; } = newest;
}

/// <summary>The log is behind a revision that was told before: it is a mirror that lacks what came later.</summary>
public sealed class StoreBehindException(long has, long wanted)
    : StoreException($"The store has come to revision {has}, and {wanted} was told before.")
{
    public long Has { get; } = has;

    public long Wanted { get; } = wanted;
}

/// <summary>There is no such lease: it was not granted, or it has ended.</summary>
public sealed class StoreLeaseNotFoundException(long lease) : StoreException($"There is no lease {lease}.")
{
    public long Lease { get; } = lease;
}

/// <summary>The number is another lease's.</summary>
public sealed class StoreLeaseExistsException(long lease) : StoreException($"There is a lease {lease} already.")
{
    public long Lease { get; } = lease;
}

/// <summary>A put was to keep the value or the lease of a key that is not there.</summary>
public sealed class StoreKeyNotFoundException() : StoreException("A key of which something is to be kept is absent.");

/// <summary>The write would take the store above its quota. Delete keys and compact, then try again.</summary>
public sealed class StoreQuotaException(long quota) : StoreException($"The store has its quota of {quota} bytes.")
{
    public long Quota { get; } = quota;
}

/// <summary>The call exceeds a limit of the store or of the log's entries.</summary>
public sealed class StoreTooLargeException(string message) : StoreException(message);

/// <summary>Other writes changed each time what the write compares, or its values were too old when they were named:
/// nothing was done, in many attempts.</summary>
public sealed class StoreContendedException(int attempts)
    : StoreException($"Other writes came first in each of {attempts} attempts.");

/// <summary>A value that the store has is not in the log any more: data was lost.</summary>
public sealed class StoreValueLostException(StoreKey key, long revision, LogPosition position)
    : StoreException($"The value of '{key}' of revision {revision} is not in the log, at {position}.")
{
    public StoreKey Key { get; } = key;

    public long Revision { get; } = revision;

    public LogPosition Position { get; } = position;
}

/// <summary>The transaction took effect, and a value of its answer could not be read: it was trimmed, the call was
/// cancelled, or the log did not answer.</summary>
public sealed class StoreAnswerLostException(long revision, Exception inner)
    : StoreException(
        $"The transaction took effect, at revision {revision}; its answer was not read: {inner.Message}", inner)
{
    /// <summary>The store's, after the transaction.</summary>
    public long Revision { get; } = revision;
}

/// <summary>Fate of a write that ended in doubt.</summary>
/// <param name="Revision">The write's own revision, if it is known: of <see cref="StoreOutcome.Done"/>.</param>
public readonly record struct StoreFate(StoreOutcome Outcome, long? Revision = null);

/// <summary>Whether a write in doubt took effect.</summary>
public enum StoreOutcome
{
    /// <summary>Not known, now; or the revisions in which it would stand are compacted.</summary>
    Unknown,

    /// <summary>The write took effect.</summary>
    Done,

    /// <summary>The write was decided, and changed no key: it was refused, or its branch changes none.</summary>
    NothingChanged,

    /// <summary>The write is not in the log, and never will be.</summary>
    NotWritten,

    /// <summary>The call was decided, and is one that need not change a key. The store's pins, leases and oldest
    /// revision show whether it took effect.</summary>
    Decided,
}
