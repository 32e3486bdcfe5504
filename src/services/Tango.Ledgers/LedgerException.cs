namespace Tango.Ledgers;

/// <summary>Reasons for which ledgers refuse a call. Numbers are BookKeeper's codes where it has one.</summary>
public enum LedgerError
{
    /// <summary>The entry is above the last one that the reader knows as confirmed; ask again, or read
    /// unconfirmed.</summary>
    EntryNotConfirmed = -1,

    /// <summary>There is no such ledger, or it was deleted.</summary>
    LedgerNotFound = -7,

    /// <summary>The writer has closed the ledger, was disposed, or has ended since the log refused an entry for too
    /// long: the inner exception says why. The ledger may be open still; then recover it.</summary>
    LedgerClosed = -11,

    /// <summary>The ledger has no such entry.</summary>
    NoSuchEntry = -13,

    /// <summary>The id is another ledger's.</summary>
    LedgerExists = -20,

    /// <summary>An entry with this id was handed over before.</summary>
    DuplicateEntry = -22,

    /// <summary>The ledger was recovered, closed or deleted by another process. What was not acknowledged may be in the
    /// ledger.</summary>
    LedgerFenced = -101,

    WrongPassword = -102,

    /// <summary>Not BookKeeper's: the entry does not fit into an entry of the log.</summary>
    EntryTooLarge = -1001,

    /// <summary>Not BookKeeper's: the outcome of a write to the log could not be learnt, or the call that made it was
    /// cancelled. A writer has ended; recover the ledger to learn which entries it has. A close or recovery may be
    /// repeated.</summary>
    LedgerInDoubt = -1002,

    /// <summary>Not BookKeeper's: too many bytes wait to be sent, each entry counting 128 more; or a given id is too
    /// far above the last acknowledged one: some 38,000 where entries of the log have room for 1 MiB, 1,500 where they
    /// have room for 64 KiB. Nothing was done; slow down and try again.</summary>
    WriterBusy = -1003,
}

/// <summary>A ledger's refusal; <see cref="Error"/> says which.</summary>
public sealed class LedgerException(LedgerError error, string message, Exception? inner = null)
    : TangoException(message, inner)
{
    public LedgerError Error { get; } = error;

    internal static LedgerException NotFound(LedgerId id) =>
        new(LedgerError.LedgerNotFound, $"There is no ledger {id}.");

    internal static LedgerException Fenced(LedgerId id) => new(LedgerError.LedgerFenced,
        $"Ledger {id} was fenced: another process recovered, closed or deleted it.");

    internal static LedgerException Closed(LedgerId id) =>
        new(LedgerError.LedgerClosed, $"The writer of ledger {id} has ended.");

    internal static LedgerException InDoubt(LedgerId id, Exception? inner) => new(LedgerError.LedgerInDoubt,
        $"Ledger {id}: whether a write is in the log could not be learnt. Recover the ledger.", inner);
}
