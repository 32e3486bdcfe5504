using System.Collections.Immutable;
using Corfu;

namespace Tango.Records;

/// <summary>The decision about a commit record, and where its record goes (R20).</summary>
/// <param name="Aborted">Null: the record committed.</param>
/// <param name="Streams">Streams of all participants.</param>
internal sealed record DecidedCommit(
    RecordVersion Commit, TxOutcome.Aborted? Aborted, ImmutableArray<StreamId> Streams);
