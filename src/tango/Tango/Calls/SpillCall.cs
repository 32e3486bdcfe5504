using System.Collections.Immutable;
using Corfu;
using Tango.Records;

namespace Tango.Calls;

/// <summary>A spill of a transaction (R19). No playback reads its stream: the commit record names its
/// position.</summary>
/// <param name="objects">Objects that the writes concern.</param>
internal sealed class SpillCall(ReadOnlyMemory<byte> record, ImmutableArray<ObjectId> objects)
    : PendingCall(record, [SpillFormat.Stream], played: null)
{
    private readonly TaskCompletionSource<RecordVersion> _done =
        new(TaskCreationOptions.RunContinuationsAsynchronously);

    public override ImmutableArray<CellScope> Writes { get; init; } = CallScopes.None([SpillFormat.Stream]);

    /// <summary>Fails with <see cref="TangoSpillException"/> if the spill is not known to be in the log; one that is
    /// there all the same has no effect.</summary>
    public Task<RecordVersion> Task => _done.Task;

    public ImmutableArray<ObjectId> Objects { get; } = objects;

    /// <summary>The transaction is over: a failure concerns no caller any more.</summary>
    public void Forget() => _ = Task.ContinueWith(
        static failed => failed.Exception, CancellationToken.None, TaskContinuationOptions.OnlyOnFaulted,
        TaskScheduler.Current);

    protected override void TellDurable(RecordVersion version) => _done.TrySetResult(version);

    protected override void TellPublished()
    {
    }

    protected override void TellInDoubt(LogPosition? position, string message, Exception? reason) =>
        _done.TrySetException(reason is OperationCanceledException
            ? reason
            : new TangoSpillException($"The writes could not be spilled; nothing took effect: {message}", reason));

    protected override void TellFailed(Exception reason) => _done.TrySetException(reason is LogUnavailableException
        ? new TangoSpillException($"The writes could not be spilled; nothing took effect: {reason.Message}", reason)
        : reason);
}
