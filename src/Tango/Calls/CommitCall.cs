using System.Collections.Immutable;
using Corfu.Protocol;
using Tango.Records;

namespace Tango.Calls;

/// <summary>A transaction's commit record. Without reads its place alone decides, so its caller need not wait for
/// playback (Tango 3.2).</summary>
/// <param name="spills">Spilled too early, the transaction aborts (R19).</param>
internal sealed class CommitCall(
    ReadOnlyMemory<byte> record, ImmutableArray<StreamId> streams, bool needsPlayback, SpillList spills, long maxSpan)
    : PendingCall(record, streams, needsPlayback)
{
    private readonly TaskCompletionSource<TxOutcome> _done = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private TxOutcome? _outcome;

    public Task<TxOutcome> Task => _done.Task;

    public override void OnAppended(RecordVersion version)
    {
        if (NeedsPlayback) return;
        _done.TrySetResult(spills.AbortAt(version, maxSpan) ?? (TxOutcome)new TxOutcome.Committed(version));
    }

    public override void OnDecided(TxOutcome outcome) => _outcome = outcome;

    public override void OnPublished() => _done.TrySetResult(_outcome!);

    public override void OnInDoubt(LogPosition? position, string message, Exception? reason) =>
        _done.TrySetResult(new TxOutcome.InDoubt(position, reason is null ? message : $"{message}: {reason.Message}"));

    public override void OnFailed(Exception reason) => _done.TrySetException(reason);
}
