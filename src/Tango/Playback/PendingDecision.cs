using System.Collections.Immutable;
using Corfu.Protocol;

namespace Tango.Playback;

/// <summary>A commit record decided here whose decision record has not been met yet (R20).</summary>
/// <param name="DecidedAt">Timestamp of the TimeProvider.</param>
internal sealed record PendingDecision(TxOutcome.Aborted? Aborted, ImmutableArray<StreamId> Streams, long DecidedAt);
