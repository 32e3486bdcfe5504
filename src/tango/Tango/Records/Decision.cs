namespace Tango.Records;

/// <summary>What a commit record came to.</summary>
/// <param name="Aborted">Null: it committed.</param>
internal sealed record Decision(RecordVersion Commit, TxOutcome.Aborted? Aborted);
