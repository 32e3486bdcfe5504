using System.Collections.Immutable;
using Corfu.Protocol;

namespace Tango.Calls;

/// <summary>A decision record. Nobody waits for it: if it does not reach the log, whoever meets the orphan writes
/// another (R20).</summary>
internal sealed class DecisionCall(ReadOnlyMemory<byte> record, ImmutableArray<StreamId> streams)
    : PendingCall(record, streams, needsPlayback: false)
{
    public override void OnAppended(RecordVersion version)
    {
    }

    public override void OnPublished()
    {
    }

    public override void OnInDoubt(LogPosition? position, string message, Exception? reason)
    {
    }

    public override void OnFailed(Exception reason)
    {
    }
}
