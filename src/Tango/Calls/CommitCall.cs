using System.Collections.Immutable;
using Corfu.Protocol;

namespace Tango.Calls;

/// <summary>A transaction's commit record. Without reads it commits wherever it stands, so its caller need not wait for
/// playback (Tango 3.2).</summary>
internal sealed class CommitCall(ReadOnlyMemory<byte> record, ImmutableArray<StreamId> streams, bool needsPlayback)
    : PendingCall(record, streams, needsPlayback)
{
    private readonly TaskCompletionSource<TxOutcome> _done = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private TxOutcome? _outcome;

    public Task<TxOutcome> Task => _done.Task;

    public override void OnAppended(RecordVersion version)
    {
        if (!NeedsPlayback) _done.TrySetResult(new TxOutcome.Committed(version));
    }

    public override void OnDecided(TxOutcome outcome) => _outcome = outcome;

    public override void OnPublished() => _done.TrySetResult(_outcome!);

    public override void OnInDoubt(LogPosition? position, string message, Exception? reason) =>
        _done.TrySetResult(new TxOutcome.InDoubt(position, reason is null ? message : $"{message}: {reason.Message}"));

    public override void OnFailed(Exception reason) => _done.TrySetException(reason);
}
