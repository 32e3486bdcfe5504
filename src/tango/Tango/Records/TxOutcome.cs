using Corfu;

namespace Tango;

/// <summary>Outcome of a transaction: exactly one of the nested records.</summary>
public abstract record TxOutcome
{
    private TxOutcome()
    {
    }

    public bool IsCommitted => this is Committed;

    /// <summary>Goes on only with a transaction that took effect, or one that joined an outer one, which
    /// decides.</summary>
    /// <exception cref="TangoAbortedException">Nothing took effect.</exception>
    /// <exception cref="TangoInDoubtException">Whether the transaction took effect is not known.</exception>
    public void ThrowIfNotCommitted()
    {
        switch (this)
        {
            case Aborted aborted:
                throw new TangoAbortedException(aborted);
            case InDoubt inDoubt:
                throw new TangoInDoubtException(inDoubt);
        }
    }

    /// <summary>The writes took effect together, at the version of the commit record.</summary>
    /// <param name="Version">
    /// The commit record's place. For a transaction without writes: the first position it did not see, index 0.
    /// </param>
    /// <param name="RejectedWrites">
    /// How many writes the objects refused when they were applied; 0 for a transaction without reads, which does
    /// not wait for that.
    /// </param>
    // A refused write does not undo the transaction's other writes (R23).
    public sealed record Committed(RecordVersion Version, int RejectedWrites = 0) : TxOutcome;

    /// <summary>Nothing took effect.</summary>
    /// <param name="ObjectName">Whose read was no longer valid.</param>
    /// <param name="Key"><see cref="ObjectKey.None"/> if the whole object had been read.</param>
    /// <param name="ConflictingWrite">The write that came in between, or the low-water mark.</param>
    public sealed record Aborted(AbortReason Reason, ObjectId ObjectId, string ObjectName, ObjectKey Key,
        RecordVersion ConflictingWrite)
        : TxOutcome;

    /// <summary>The transaction joined an outer one, which decides: nothing is known yet.</summary>
    public sealed record Joined : TxOutcome;

    /// <summary>The commit record may or may not be in the log, or what became of it is not known here. Never retried
    /// silently.</summary>
    /// <remarks><see cref="TangoRuntime.ResolveAsync"/> says later what became of it.</remarks>
    /// <param name="Position">Position where the record would stand, if one was granted.</param>
    public sealed record InDoubt(LogPosition? Position, string Message) : TxOutcome
    {
        /// <summary>The call that was sent, for <see cref="TangoRuntime.ResolveAsync"/>.</summary>
        internal object? Call { get; init; }

        /// <summary>The outcome for a caller that cancelled; null: the call has ended in doubt.</summary>
        internal Task<TxOutcome>? Later { get; init; }
    }
}

/// <summary>Why a transaction did not commit. Numbers 1 to 3 are stored in decision records.</summary>
public enum AbortReason
{
    /// <summary>Something the transaction read was written after its snapshot.</summary>
    Conflict = 1,

    /// <summary>The snapshot is below the object's low-water mark: whether a key was written since is no longer
    /// known.</summary>
    // Versions of keys are evicted only below the low-water mark (R18).
    SnapshotTooOld = 2,

    /// <summary>Too many entries came between the first spill of a large transaction and its commit record, whatever it
    /// read.</summary>
    // Spills are kept for the log's MaxSpan only, so that a later record could not be applied (R19).
    SpilledTooEarly = 3,

    /// <summary>The commit record is not in the log and never will be. Only
    /// <see cref="TangoRuntime.ResolveAsync"/> finds that out.</summary>
    NotWritten = 4,
}
