using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Protocol;
using Tango.Records;

namespace Tango.Calls;

/// <summary>A transaction's commit record. Without reads its place alone decides, so its caller need not wait for
/// playback (Tango 3.2).</summary>
/// <param name="spills">Spilled too early, the transaction aborts (R19).</param>
/// <param name="firstWritten">An object that it writes.</param>
internal sealed class CommitCall(
    ReadOnlyMemory<byte> record, ImmutableArray<StreamId> streams, bool needsPlayback, SpillList spills, long maxSpan,
    DirectoryEntry firstWritten)
    : PendingCall(record, streams, needsPlayback)
{
    private readonly TaskCompletionSource<TxOutcome> _done = new(TaskCreationOptions.RunContinuationsAsynchronously);

    // What is learnt after the caller was told that it is in doubt: few calls need it.
    private TaskCompletionSource<TxOutcome>? _later;
    private TxOutcome? _outcome;
    private volatile AppendedRecord? _place;

    /// <summary>Where it is sent: a position means nothing in any other log.</summary>
    public required ICorfuLog Log { get; init; }

    public Task<TxOutcome> Task => _done.Task;

    /// <summary>Of a caller that did not wait: what it would have heard.</summary>
    public Task<TxOutcome> Later => LaterSource.Task;

    private TaskCompletionSource<TxOutcome> LaterSource => LazyInitializer.EnsureInitialized(
        ref _later, static () => new(TaskCreationOptions.RunContinuationsAsynchronously))!;

    /// <summary>Null: no position is known.</summary>
    public AppendedRecord? Place => _place;

    /// <summary>The append's outcome is known by now: the record will never be in the log.</summary>
    public TxOutcome.Aborted NotWritten() => new(
        AbortReason.NotWritten, firstWritten.Id, firstWritten.Name, ObjectKey.None,
        new RecordVersion(_place?.Append.Position ?? LogPosition.Zero, 0));

    /// <summary>A commit record without reads stands there.</summary>
    public TxOutcome DecideByPlace(RecordVersion version) =>
        spills.AbortAt(version, maxSpan) ?? (TxOutcome)new TxOutcome.Committed(version);

    public override void OnAppended(RecordVersion version)
    {
        if (!NeedsPlayback) Complete(DecideByPlace(version));
    }

    public override void OnPlaced(AppendResult append, int index) => _place = new AppendedRecord(append, index);

    public override void OnDecided(TxOutcome outcome) => _outcome = outcome;

    public override void OnPublished() => Complete(_outcome!);

    public override void OnInDoubt(LogPosition? position, string message, Exception? reason) =>
        Complete(new TxOutcome.InDoubt(position, reason is null ? message : $"{message}: {reason.Message}")
        {
            Call = this,
        });

    public override void OnFailed(Exception reason)
    {
        if (!_done.TrySetException(reason)) LaterSource.TrySetResult(NotWritten());
    }

    private void Complete(TxOutcome outcome)
    {
        if (!_done.TrySetResult(outcome)) LaterSource.TrySetResult(outcome);
    }
}

/// <summary>Where a record stands, or would stand if its append is unknown.</summary>
/// <param name="Index">In its entry.</param>
internal sealed record AppendedRecord(AppendResult Append, int Index)
{
    public RecordVersion Version => new(Append.Position, Index);
}
