using System.Collections.Immutable;
using Corfu;

namespace Tango.Calls;

/// <summary>
/// A caller's record on its way into the log, and the caller's answer. The sending loop knows what the log says,
/// playback what the record came to, and playback may meet the record before its append returns:
/// <code>
///   Queued ----> Sent ----> Placed ----> Appended        the sending loop
///                  |          |             |
///                  +----------+-------------+
///                             v
///                          Applied                       playback
///
///   Queued   -> Told    withdrawn by its caller
///   Sent     -> Told    refused by the log or the sequencer, or in doubt
///   Placed   -> Told    in doubt
///   Appended -> Told    durable, if that is all that the caller needs; else in doubt
///   Applied  -> Told    published, durable or in doubt
/// </code>
/// </summary>
/// <remarks>
/// Invariants:
/// <list type="bullet">
/// <item>The call becomes Told exactly once. Later news of the record changes nothing.</item>
/// <item>The record is applied for its caller once: only Sent, Placed and Appended become Applied.</item>
/// <item><c>State == Queued</c> if and only if the record was never sent: only then a caller that cancels is told
/// that nothing took effect. Afterwards the caller alone leaves, in doubt, and the call goes on to Told.</item>
/// </list>
/// Any other transition is an error of the program, and throws.
/// </remarks>
/// <param name="played">Plays the record before its caller is answered; null: the caller is answered as soon as the
/// record is durable.</param>
internal abstract class PendingCall(
    ReadOnlyMemory<byte> record, ImmutableArray<StreamId> streams, IPlayedEntries? played)
    : IWithdrawable
{
    private const Phase InFlight = Phase.Sent | Phase.Placed | Phase.Appended;

    private int _state = (int)Phase.Queued;

    [Flags]
    public enum Phase
    {
        Queued = 1,

        /// <summary>A sending loop has taken the record: it may be in the log.</summary>
        Sent = 2,

        /// <summary>The append has returned with the position at which the record stands, or would stand.</summary>
        Placed = 4,

        /// <summary>The record is in the log.</summary>
        Appended = 8,

        /// <summary>Playback has applied or decided the record, and its views are not published.</summary>
        Applied = 16,

        /// <summary>The caller has been answered.</summary>
        Told = 32,
    }

    public Phase State => (Phase)Volatile.Read(ref _state);

    /// <summary>Guarded by the lock of <see cref="CallBatcher"/>: its place among those that wait. Null: it does not
    /// wait, or not any more.</summary>
    public LinkedListNode<PendingCall>? Waiting { get; set; }

    /// <summary>Called when it is withdrawn before it was sent.</summary>
    public Action<PendingCall>? Withdrawn { get; set; }

    public ReadOnlyMemory<byte> Record { get; } = record;

    public ImmutableArray<StreamId> Streams { get; } = streams;

    public IPlayedEntries? Played { get; } = played;

    /// <summary>All that the record may write (R24), scopes of its streams. A stream that is not named counts as
    /// written whole, with its unit; none: all streams do.</summary>
    public virtual ImmutableArray<CellScope> Writes { get; init; } = [];

    /// <summary>Plays the record once it is in the log, whether its caller waits for that or not; null: it is not
    /// played here.</summary>
    public virtual IPlayedEntries? Follower => Played;

    /// <summary>False: the caller is answered as soon as the record is durable.</summary>
    public bool NeedsPlayback => Played is not null;

    /// <summary>The sending loop alone answers the caller, before it sends its next batch. Playback does not hear of
    /// the call.</summary>
    public virtual bool IsPost => false;

    /// <summary>Receiver of Apply's value, if the caller wants it.</summary>
    public virtual ApplyResult? Result => null;

    /// <returns>False: the caller has withdrawn it.</returns>
    public bool TryBecomeSent() => TryMove(Phase.Sent, from: Phase.Queued, unless: Phase.Told);

    /// <summary>The record's entry has a position; it may not be in the log.</summary>
    /// <param name="index">The record's, in the entry.</param>
    public void BecomePlaced(AppendResult append, int index)
    {
        OnPlaced(append, index);
        TryMove(Phase.Placed, from: Phase.Sent, unless: Phase.Applied | Phase.Told);
    }

    /// <summary>The record is in the log.</summary>
    public void BecomeAppended(RecordVersion version)
    {
        TryMove(Phase.Appended, from: Phase.Placed, unless: Phase.Applied | Phase.Told);
        if ((IsPost || !NeedsPlayback)
            && TryMove(Phase.Told, from: Phase.Appended | Phase.Applied, unless: Phase.Told))
            TellDurable(version);
    }

    /// <summary>Playback has applied the record of an update, or could not.</summary>
    public void BecomeApplied(TangoRejectedException? rejection, Exception? stopped)
    {
        if (TryMove(Phase.Applied, from: InFlight, unless: Phase.Told)) OnApplied(rejection, stopped);
    }

    /// <summary>Playback has decided a commit record.</summary>
    public void BecomeApplied(TxOutcome outcome)
    {
        if (TryMove(Phase.Applied, from: InFlight, unless: Phase.Told)) OnDecided(outcome);
    }

    /// <summary>The views that include the record can be read now: answers the caller. A record that no caller waits
    /// to see played need not have been applied here.</summary>
    public void Publish()
    {
        if (TryMove(Phase.Told, from: Phase.Applied, unless: NeedsPlayback ? Phase.Told : InFlight | Phase.Told))
            TellPublished();
    }

    /// <summary>Whether the record is in the log, or what it came to, is not known here.</summary>
    public void BecomeInDoubt(LogPosition? position, string message, Exception? reason)
    {
        if (TryMove(Phase.Told, from: InFlight | Phase.Applied, unless: Phase.Told))
            TellInDoubt(position, message, reason);
    }

    /// <summary>Playback has met the record, and does not know what it came to. A caller that does not wait for
    /// playback hears of the append alone: which of the two is first must make no difference.</summary>
    public void BecomeUnplayed(LogPosition position, string message, Exception? reason)
    {
        if (NeedsPlayback) BecomeInDoubt(position, message, reason);
    }

    /// <summary>The record is certainly not in the log, says the log. If playback has met it all the same, the caller
    /// is told neither.</summary>
    public void BecomeFailed(Exception reason)
    {
        if (TryMove(Phase.Told, from: Phase.Sent, unless: Phase.Applied | Phase.Told)) TellFailed(reason);
        else BecomeInDoubt(null, "The log refused the record, and playback has met it", reason);
    }

    /// <summary>The record is certainly not in the log, and never comes: its caller goes on without it.</summary>
    protected bool TryBecomeNotWritten() =>
        TryMove(Phase.Told, from: Phase.Sent, unless: Phase.Applied | Phase.Told);

    public bool TryWithdraw()
    {
        if (!TryMove(Phase.Told, from: Phase.Queued, unless: InFlight | Phase.Applied | Phase.Told)) return false;
        Withdrawn?.Invoke(this);
        return true;
    }

    /// <summary>The caller's token fired: not yet sent means never sent, later means in doubt.</summary>
    public void Cancel(CancellationToken token)
    {
        var reason = new OperationCanceledException(token);
        if (TryWithdraw()) TellFailed(reason);
        else TellCancelled("Cancelled after the record had been sent", reason);
    }

    /// <summary>Waits for the caller's answer. A token that fires ends the wait, and does not take a sent record back:
    /// see <see cref="Cancel"/>.</summary>
    /// <param name="answer">The call's own.</param>
    public ValueTask<T> WaitAsync<T>(Task<T> answer, CancellationToken cancellationToken) =>
        cancellationToken.CanBeCanceled && !answer.IsCompleted
            ? WaitCancellableAsync(answer, cancellationToken)
            : new ValueTask<T>(answer);

    protected virtual void OnPlaced(AppendResult append, int index)
    {
    }

    protected virtual void OnApplied(TangoRejectedException? rejection, Exception? stopped)
    {
    }

    protected virtual void OnDecided(TxOutcome outcome)
    {
    }

    /// <summary>Called once at most, as <see cref="TellPublished"/>, <see cref="TellInDoubt"/> and
    /// <see cref="TellFailed"/>: exactly one of them is. The caller may have cancelled before.</summary>
    protected abstract void TellDurable(RecordVersion version);

    protected abstract void TellPublished();

    protected abstract void TellInDoubt(LogPosition? position, string message, Exception? reason);

    protected abstract void TellFailed(Exception reason);

    /// <summary>Answers the caller, unless it has an answer. What becomes of the record is told later.</summary>
    protected virtual void TellCancelled(string message, OperationCanceledException reason) =>
        TellInDoubt(null, message, reason);

    private async ValueTask<T> WaitCancellableAsync<T>(Task<T> answer, CancellationToken cancellationToken)
    {
        using var registration = cancellationToken.UnsafeRegister(
            static (state, token) => ((PendingCall)state!).Cancel(token), this);
        return await answer;
    }

    /// <param name="unless">States in which nothing happens.</param>
    private bool TryMove(Phase to, Phase from, Phase unless)
    {
        while (true)
        {
            var state = State;
            if ((state & unless) != 0) return false;
            if ((state & from) == 0) throw new InvalidOperationException($"A call that is {state} cannot be {to} next");
            if (Interlocked.CompareExchange(ref _state, (int)to, (int)state) == (int)state) return true;
        }
    }
}
