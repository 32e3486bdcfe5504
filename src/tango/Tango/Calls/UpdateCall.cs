using System.Collections.Immutable;
using Corfu;

namespace Tango.Calls;

/// <summary>An update outside a transaction. Its result is what Apply computed, or nothing if the mutator returns
/// nothing.</summary>
internal sealed class UpdateCall<TResult>(ReadOnlyMemory<byte> record, ImmutableArray<StreamId> streams,
    IPlayedEntries? played, ApplyResult<TResult>? result)
    : PendingCall(record, streams, played)
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

    protected override void TellDurable(RecordVersion version) => _done.TrySetResult(default!);

    protected override void TellPublished()
    {
        if (_refusal is not null) _done.TrySetException(_refusal);
        else _done.TrySetResult(result is null ? default! : result.Value!);
    }

    protected override void TellInDoubt(LogPosition? position, string message, Exception? reason)
    {
        var where = position is null ? "" : $" (position {position})";
        var why = reason is null ? "" : $": {reason.Message}";
        _done.TrySetException(new TangoInDoubtException($"{message}{where}{why}", reason));
    }

    protected override void TellFailed(Exception reason) => _done.TrySetException(reason);
}
