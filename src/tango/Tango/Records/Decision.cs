using System.Collections.Immutable;
using Corfu;

namespace Tango.Records;

/// <summary>A decision record: the outcome of a commit record.</summary>
/// <param name="Aborted">Null: it committed.</param>
internal sealed record Decision(RecordVersion Commit, TxOutcome.Aborted? Aborted);

/// <summary>The decision about a commit record, and the streams that its decision record goes to (R20).</summary>
/// <param name="Aborted">Null: the record committed.</param>
/// <param name="Streams">Streams of all objects that the commit record reads or writes.</param>
internal sealed record DecidedCommit(
    RecordVersion Commit, TxOutcome.Aborted? Aborted, ImmutableArray<StreamId> Streams);

/// <summary>
/// R20: a commit record that was played, and whose decision record was not. A runtime that loads the checkpoint goes on
/// waiting for it. It publishes the outcome of an orphan, and compares the outcome with the decision record.
/// </summary>
/// <param name="Streams">As in <see cref="DecidedCommit"/>.</param>
/// <param name="IsDecided">False: the outcome is not known here, because not all of the read set is hosted.</param>
/// <param name="Aborted">Null, once decided: it committed.</param>
internal sealed record AwaitedDecision(
    RecordVersion Commit, ImmutableArray<StreamId> Streams, bool IsDecided, TxOutcome.Aborted? Aborted);
