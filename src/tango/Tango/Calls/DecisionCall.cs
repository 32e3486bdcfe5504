using System.Collections.Immutable;
using Corfu.Protocol;

namespace Tango.Calls;

/// <summary>A decision record. No caller waits for it: if it does not reach the log, a host that meets the orphan
/// writes another (R20).</summary>
/// <param name="failed">Called if the record is not known to be in the log.</param>
internal sealed class DecisionCall(ReadOnlyMemory<byte> record, ImmutableArray<StreamId> streams, Action failed)
    : PendingCall(record, streams, needsPlayback: false)
{
    public override void OnAppended(RecordVersion version)
    {
    }

    public override void OnPublished()
    {
    }

    public override void OnInDoubt(LogPosition? position, string message, Exception? reason) => failed();

    public override void OnFailed(Exception reason) => failed();
}
