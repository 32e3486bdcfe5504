namespace Tango;

/// <summary>A transaction cannot read on: no position of the log has both what it has read and what it reads now.
/// It can only abort; <c>TangoRuntime.RunTransactionAsync</c> runs it again.</summary>
// All reads of a transaction come from one position (R17).
public sealed class TangoConflictException : TangoException
{
    internal TangoConflictException(TxOutcome.Aborted conflict)
        : base(
            $"What the transaction has read of '{conflict.ObjectName}' was written at {conflict.ConflictingWrite}") =>
        Conflict = conflict;

    /// <summary>Why <see cref="TangoTransaction.EndTxAsync"/> will say that it aborted.</summary>
    public TxOutcome.Aborted Conflict { get; }
}
