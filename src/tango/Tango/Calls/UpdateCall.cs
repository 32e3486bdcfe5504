using System.Collections.Immutable;
using Corfu;

namespace Tango.Calls;

/// <summary>An update outside a transaction, as <see cref="TangoRuntime.ResolveUpdateAsync"/> sees it.</summary>
internal abstract class UpdateCall(
    ReadOnlyMemory<byte> record, ImmutableArray<StreamId> streams, IPlayedEntries? played)
    : PendingCall(record, streams, played)
{
    private static readonly TaskCompletionSource s_ended = Ended();

    // Null, then: of a caller that cancelled, then s_ended. A caller that cancels as the call ends finds s_ended.
    private TaskCompletionSource? _later;
    private volatile AppendedRecord? _place;
    private volatile bool _isNotWritten;

    /// <summary>Log to which the call is sent: a position means nothing in any other log. Null: its fate is not looked
    /// up.</summary>
    public ICorfuLog? Log { get; init; }

    /// <summary>Null: no position is known.</summary>
    public AppendedRecord? Place => _place;

    /// <summary>The log has refused the record.</summary>
    public bool IsNotWritten => _isNotWritten;

    /// <summary>Completes once no more can be learnt from the call itself, if its caller has cancelled. Null: the
    /// caller has not.</summary>
    public Task? Later => Volatile.Read(ref _later)?.Task;

    protected override void OnPlaced(AppendResult append, int index) => _place = new AppendedRecord(append, index);

    protected override void TellDurable(RecordVersion version) => End();

    protected override void TellPublished() => End();

    protected override void TellFailed(Exception reason)
    {
        _isNotWritten = true;
        End();
    }

    protected override void TellInDoubt(LogPosition? position, string message, Exception? reason) => End();

    protected override void TellCancelled(string message, OperationCanceledException reason) =>
        Interlocked.CompareExchange(
            ref _later, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously), null);

    private static TaskCompletionSource Ended()
    {
        var ended = new TaskCompletionSource();
        ended.SetResult();
        return ended;
    }

    private void End() => Interlocked.Exchange(ref _later, s_ended)?.TrySetResult();
}

/// <summary>An update outside a transaction. Its result is what Apply computed, or nothing if the mutator returns
/// nothing.</summary>
internal sealed class UpdateCall<TResult>(ReadOnlyMemory<byte> record, ImmutableArray<StreamId> streams,
    IPlayedEntries? played, ApplyResult<TResult>? result)
    : UpdateCall(record, streams, played)
{
    private readonly TaskCompletionSource<TResult> _done = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private Exception? _refusal;

    public Task<TResult> Task => _done.Task;

    public override ApplyResult? Result => result;

    // Without playback the caller is told that the record is in the log, and no more: whether playback is first or the
    // append must make no difference.
    protected override void OnApplied(TangoRejectedException? rejection, Exception? stopped)
    {
        if (NeedsPlayback) _refusal = stopped ?? rejection;
    }

    protected override void TellDurable(RecordVersion version)
    {
        _done.TrySetResult(default!);
        base.TellDurable(version);
    }

    protected override void TellPublished()
    {
        if (_refusal is not null) _done.TrySetException(_refusal);
        else _done.TrySetResult(result is null ? default! : result.Value!);
        base.TellPublished();
    }

    protected override void TellInDoubt(LogPosition? position, string message, Exception? reason)
    {
        _done.TrySetException(InDoubt(position, message, reason));
        base.TellInDoubt(position, message, reason);
    }

    protected override void TellCancelled(string message, OperationCanceledException reason)
    {
        if (_done.Task.IsCompleted) return;
        base.TellCancelled(message, reason);
        _done.TrySetException(InDoubt(null, message, reason));
    }

    protected override void TellFailed(Exception reason)
    {
        base.TellFailed(reason);
        _done.TrySetException(reason);
    }

    private TangoInDoubtException InDoubt(LogPosition? position, string message, Exception? reason)
    {
        var where = position is null ? "" : $" (position {position})";
        var why = reason is null ? "" : $": {reason.Message}";
        return new TangoInDoubtException($"{message}{where}{why}", reason) { Update = this };
    }
}
