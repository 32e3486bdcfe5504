namespace Tango.Records;

/// <summary>Outcome of a commit record.</summary>
/// <param name="Aborted">Null: it committed.</param>
internal sealed record Decision(RecordVersion Commit, TxOutcome.Aborted? Aborted);
