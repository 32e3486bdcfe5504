using System.Collections.Immutable;
using Corfu;
using Tango.Checkpoints;

namespace Tango.Records;

/// <summary>
/// R20: a commit record that was played, and whose decision record was not. A runtime that loads the checkpoint goes on
/// waiting for it. It publishes the outcome of an orphan, and compares the outcome with the decision record.
/// </summary>
/// <param name="Streams">Streams of all objects that the record reads or writes: its decision record goes
/// there.</param>
/// <param name="IsDecided">False: the outcome is not known here, because not all of the read set is hosted.</param>
/// <param name="Aborted">Null, once decided: it committed.</param>
internal sealed record AwaitedDecision(
    RecordVersion Commit, ImmutableArray<StreamId> Streams, bool IsDecided, TxOutcome.Aborted? Aborted);
