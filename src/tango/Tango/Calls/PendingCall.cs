using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Protocol;

namespace Tango.Calls;

/// <summary>One caller's record on its way into the log. Exactly one of its outcomes wins: the first
/// that is reported.</summary>
internal abstract class PendingCall(ReadOnlyMemory<byte> record, ImmutableArray<StreamId> streams, bool needsPlayback)
{
    private const int Queued = 0;
    private const int Sent = 1;
    private const int Gone = 2;
    private int _state;
    private volatile bool _isUnattended;

    /// <summary>Guarded by the lock of <see cref="CallBatcher"/>: its place among those that wait. Null: it does not
    /// wait, or not any more.</summary>
    public LinkedListNode<PendingCall>? Waiting { get; set; }

    /// <summary>Called when it is withdrawn before it was sent.</summary>
    public Action<PendingCall>? Withdrawn { get; set; }

    public ReadOnlyMemory<byte> Record { get; } = record;

    public ImmutableArray<StreamId> Streams { get; } = streams;

    /// <summary>False: the caller is answered as soon as the record is durable.</summary>
    public bool NeedsPlayback { get; } = needsPlayback;

    /// <summary>Where Apply's value goes, if the caller wants it.</summary>
    public virtual ApplyResult? Result => null;

    /// <summary>The caller did not wait for the outcome of what had been sent.</summary>
    public bool IsUnattended => _isUnattended;

    public bool TryMarkSent() => Interlocked.CompareExchange(ref _state, Sent, Queued) == Queued;

    /// <summary>The caller's token fired: not yet sent means never sent, later means in doubt.</summary>
    public void Cancel(CancellationToken token)
    {
        if (Interlocked.CompareExchange(ref _state, Gone, Queued) == Queued)
        {
            Withdrawn?.Invoke(this);
            OnFailed(new OperationCanceledException(token));
        }
        else
        {
            _isUnattended = true;
            OnInDoubt(null, "Cancelled after the record had been sent", new OperationCanceledException(token));
        }
    }

    /// <summary>The record's entry has a position; it may not be in the log. Before any other news of it.</summary>
    /// <param name="index">The record's, in the entry.</param>
    public virtual void OnPlaced(AppendResult append, int index)
    {
    }

    /// <summary>The record is in the log. Completes the call unless it <see cref="NeedsPlayback"/>.</summary>
    public abstract void OnAppended(RecordVersion version);

    /// <summary>Playback applied the record of an update, or could not.</summary>
    public virtual void OnApplied(RecordVersion version, TangoRejectedException? rejection, Exception? stopped)
    {
    }

    /// <summary>Playback decided a commit record.</summary>
    public virtual void OnDecided(TxOutcome outcome)
    {
    }

    /// <summary>The views that include the record can be read now: answer the caller.</summary>
    public abstract void OnPublished();

    public abstract void OnInDoubt(LogPosition? position, string message, Exception? reason);

    /// <summary>The record is certainly not in the log.</summary>
    public abstract void OnFailed(Exception reason);
}
