using System.Collections.Immutable;
using Corfu;
using Tango.Records;

namespace Tango.Calls;

/// <summary>A decision record. No caller waits for it: if it does not reach the log, a host that meets the orphan
/// writes another (R20).</summary>
/// <param name="failed">Called if the record is not known to be in the log.</param>
internal sealed class DecisionCall(DecidedCommit decided, Action failed)
    : PendingCall(DecisionFormat.Encode(decided.Commit, decided.Aborted), decided.Streams, played: null)
{
    // The commit record has told what it writes.
    public override ImmutableArray<CellScope> Writes { get; init; } = CallScopes.None(decided.Streams);

    protected override void TellDurable(RecordVersion version)
    {
    }

    protected override void TellPublished()
    {
    }

    protected override void TellInDoubt(LogPosition? position, string message, Exception? reason) => failed();

    protected override void TellFailed(Exception reason) => failed();
}
