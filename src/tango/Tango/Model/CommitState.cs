using System.Collections.Immutable;
using Corfu;
using Tango.Records;

namespace Tango.Model;

/// <summary>
/// R20: what one playback knows of one commit record whose outcome a decision record publishes:
/// <code>
///              playback decides the record          its decision is sent
///   Expected ------------------------------> Decided ------------------> Sent
///      |                                        ^    the append failed     |
///      | a decision is found                    +--------------------------+
///      v ahead of playback
///   Learnt
///
///   Expected, Learnt, Decided, Sent --- the decision record is played ---> Played
/// </code>
/// A record begins as Expected, where playback has met it, or as Learnt, where its decision is found first.
/// </summary>
/// <remarks>
/// Invariants:
/// <list type="bullet">
/// <item><c>HasOutcome == State is Learnt or Decided or Sent</c>, and an outcome never changes.</item>
/// <item><c>IsMet || State == Learnt</c>: no record is decided here before playback has met it.</item>
/// <item><c>IsDecidedHere == State is Decided or Sent</c>; only then <c>DecidedAt</c> counts.</item>
/// <item><c>State == Learnt</c> implies that playback has not passed <c>LearntAt</c>, or <c>IsMet</c>.</item>
/// <item>At most one decision from here is on its way: only Decided becomes Sent.</item>
/// </list>
/// </remarks>
internal sealed class CommitState
{
    private CommitState(RecordVersion commit, Phase state) => (Commit, State) = (commit, state);

    public enum Phase
    {
        /// <summary>Playback has met the record, and the outcome is not known here.</summary>
        Expected,

        /// <summary>The outcome is known from a decision ahead of playback; others have published it.</summary>
        Learnt,

        /// <summary>Playback has decided the record. Its decision is not in the log, as far as is known here.</summary>
        Decided,

        /// <summary>As Decided, and the decision from here is on its way or in the log.</summary>
        Sent,

        /// <summary>The decision record is played. Nothing waits for the record any more.</summary>
        Played,
    }

    public RecordVersion Commit { get; }

    public Phase State { get; private set; }

    /// <summary>Streams of all participants, in which the decision record stands. Default: playback has not met the
    /// record.</summary>
    public ImmutableArray<StreamId> Streams { get; private set; }

    /// <summary>Null with an outcome: the record committed.</summary>
    public TxOutcome.Aborted? Aborted { get; private set; }

    /// <summary>Position at which playback meets the decision record, or an earlier one.</summary>
    public LogPosition LearntAt { get; private set; }

    /// <summary>Timestamp of the decision here.</summary>
    public long DecidedAt { get; private set; }

    public bool IsMet => !Streams.IsDefault;

    public bool HasOutcome => State is Phase.Learnt or Phase.Decided or Phase.Sent;

    public bool IsDecidedHere => State is Phase.Decided or Phase.Sent;

    /// <summary>Playback has met the record.</summary>
    public static CommitState NewExpected(RecordVersion commit, ImmutableArray<StreamId> streams) =>
        new(commit, Phase.Expected) { Streams = streams };

    /// <summary>The record's decision was found ahead of playback.</summary>
    public static CommitState NewLearnt(RecordVersion commit, TxOutcome.Aborted? aborted, LogPosition at) =>
        new(commit, Phase.Learnt) { Aborted = aborted, LearntAt = at };

    /// <summary>Playback has met the record, perhaps again: a blocked record is played from its beginning.</summary>
    public void Meet(ImmutableArray<StreamId> streams)
    {
        Require(State != Phase.Played, nameof(Meet));
        Streams = streams;
    }

    /// <summary>A decision is found ahead of playback. The first outcome that is known stays.</summary>
    public void BecomeLearnt(TxOutcome.Aborted? aborted, LogPosition at)
    {
        Require(State != Phase.Played, nameof(BecomeLearnt));
        // R20: playback compares a decision from here with the record when it gets there.
        if (IsDecidedHere) return;
        if (State == Phase.Expected) (State, Aborted) = (Phase.Learnt, aborted);
        LearntAt = LogPosition.Max(LearntAt, at);
    }

    /// <summary>Playback has decided the record at its position, or has taken the decision over. What others have
    /// published is not published again.</summary>
    /// <exception cref="TangoDivergenceException">R20: a known outcome differs.</exception>
    public void BecomeDecided(TxOutcome.Aborted? aborted, long now)
    {
        Require(IsMet && State != Phase.Played, nameof(BecomeDecided));
        if (HasOutcome) RequireSame(aborted is null, Commit, Aborted is null);
        else (State, Aborted, DecidedAt) = (Phase.Decided, aborted, now);
    }

    public void BecomeSent()
    {
        Require(State == Phase.Decided, nameof(BecomeSent));
        State = Phase.Sent;
    }

    /// <summary>The decision from here is not known to be in the log: the record is an orphan again.</summary>
    public void BecomeUnsent()
    {
        Require(State == Phase.Sent, nameof(BecomeUnsent));
        State = Phase.Decided;
    }

    /// <summary>Playback has reached the decision record.</summary>
    /// <exception cref="TangoDivergenceException">R20: the outcome known here differs.</exception>
    public void BecomePlayed(Decision decision, RecordVersion version)
    {
        Require(State != Phase.Played, nameof(BecomePlayed));
        if (HasOutcome) RequireSame(Aborted is null, version, decision.Aborted is null);
        State = Phase.Played;
    }

    private void RequireSame(bool committedHere, RecordVersion decision, bool committedThere)
    {
        if (committedHere != committedThere) throw new TangoDivergenceException(Commit, committedHere, decision);
    }

    private void Require(bool isLegal, string transition)
    {
        if (!isLegal) throw new InvalidOperationException($"Commit record {Commit} is {State}: no {transition}");
    }
}
