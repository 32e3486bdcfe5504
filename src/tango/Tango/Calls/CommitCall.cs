using System.Collections.Immutable;
using Corfu;
using Tango.Records;

namespace Tango.Calls;

/// <summary>A transaction's commit record. Without reads its place alone decides, so its caller need not wait for
/// playback (Tango 3.2).</summary>
/// <param name="spills">Spilled too early, the transaction aborts (R19).</param>
/// <param name="firstWritten">An object that it writes.</param>
internal class CommitCall(
    ReadOnlyMemory<byte> record, ImmutableArray<StreamId> streams, IPlayedEntries? played, SpillList spills,
    long maxSpan, DirectoryEntry firstWritten)
    : PendingCall(record, streams, played)
{
    private readonly TaskCompletionSource<TxOutcome> _done = new(TaskCreationOptions.RunContinuationsAsynchronously);

    // The outcome for a caller that cancelled. Invariant: set before the caller is told of it.
    private volatile TaskCompletionSource<TxOutcome>? _later;
    private TxOutcome? _outcome;
    private volatile AppendedRecord? _place;

    /// <summary>Log to which the call is sent: a position means nothing in any other log.</summary>
    public required ICorfuLog Log { get; init; }

    public Task<TxOutcome> Task => _done.Task;

    /// <summary>Null: no position is known.</summary>
    public AppendedRecord? Place => _place;

    /// <summary>The place in the log decides: no playback is needed to know the outcome.</summary>
    public virtual bool IsDecidedByPlace => !NeedsPlayback;

    /// <summary>The append's outcome is known by now: the record will never be in the log.</summary>
    public TxOutcome.Aborted NotWritten() => new(
        AbortReason.NotWritten, firstWritten.Id, firstWritten.Name, ObjectKey.None,
        new RecordVersion(_place?.Append.Position ?? LogPosition.Zero, 0));

    /// <summary>A commit record without reads stands there.</summary>
    public TxOutcome DecideByPlace(RecordVersion version) =>
        spills.AbortAt(version, maxSpan) ?? (TxOutcome)new TxOutcome.Committed(version);

    protected override void OnPlaced(AppendResult append, int index) => _place = new AppendedRecord(append, index);

    // Rejected writes are counted for callers that wait for playback, whether it is before the append's answer or not.
    protected override void OnDecided(TxOutcome outcome) =>
        _outcome = !NeedsPlayback && outcome is TxOutcome.Committed committed
            ? committed with { RejectedWrites = 0 }
            : outcome;

    protected override void TellDurable(RecordVersion version) => Tell(DecideByPlace(version));

    protected override void TellPublished() => Tell(_outcome!);

    protected override void TellInDoubt(LogPosition? position, string message, Exception? reason) =>
        Tell(InDoubt(position, message, reason));

    protected override void TellFailed(Exception reason)
    {
        if (!_done.TrySetException(reason)) _later!.TrySetResult(NotWritten());
    }

    protected override void TellCancelled(string message, OperationCanceledException reason)
    {
        if (_done.Task.IsCompleted) return;
        var later = new TaskCompletionSource<TxOutcome>(TaskCreationOptions.RunContinuationsAsynchronously);
        _later = later;
        _done.TrySetResult(InDoubt(null, message, reason) with { Later = later.Task });
    }

    protected void Tell(TxOutcome outcome)
    {
        if (!_done.TrySetResult(outcome)) _later!.TrySetResult(outcome);
    }

    private TxOutcome.InDoubt InDoubt(LogPosition? position, string message, Exception? reason) =>
        new(position, reason is null ? message : $"{message}: {reason.Message}") { Call = this };
}

/// <summary>Place of a record in the log, or its place to be if the append is unknown.</summary>
/// <param name="Index">In its entry.</param>
internal sealed record AppendedRecord(AppendResult Append, int Index)
{
    public RecordVersion Version => new(Append.Position, Index);
}
