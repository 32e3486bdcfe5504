using System.Collections.Immutable;
using Corfu;
using Tango.Records;

namespace Tango.Model;

/// <summary>
/// R20: the commit records of one playback that wait for their decision records, each with its
/// <see cref="CommitState"/>. Playback uses the table within its cycle, the publisher of decisions beside it.
/// </summary>
internal sealed class Commits
{
    private readonly Lock _gate = new();

    // Guarded by _gate. Invariant: no record here is Played.
    private readonly SortedDictionary<RecordVersion, CommitState> _waiting = [];

    // Guarded by _gate: decided records of this runtime's own transactions, whose decisions are to be sent at once.
    private readonly List<CommitState> _own = [];

    // Guarded by _gate: how many records were decided here.
    private int _decided;
    private TangoDivergenceException? _divergence;

    /// <summary>Whether a record that was decided here still waits for its decision record.</summary>
    public bool HasDecided
    {
        get
        {
            lock (_gate) return _decided > 0;
        }
    }

    /// <summary>A decision here differs from one in the log: nothing is played any more.</summary>
    public void ThrowIfDiverged()
    {
        if (Volatile.Read(ref _divergence) is { } divergence) throw divergence;
    }

    /// <summary>Whether the outcome is known.</summary>
    /// <param name="aborted">Null: the record committed.</param>
    public bool TryGet(RecordVersion commit, out TxOutcome.Aborted? aborted)
    {
        lock (_gate)
        {
            var known = _waiting.GetValueOrDefault(commit);
            aborted = known?.Aborted;
            return known is { HasOutcome: true };
        }
    }

    /// <summary>Playback has met a commit record that reads a hosted object, or is decided here: its decision record
    /// will follow.</summary>
    public void Expect(RecordVersion commit, ImmutableArray<StreamId> streams)
    {
        lock (_gate) Meet(commit, streams);
    }

    /// <summary>The decision stands in the log ahead of playback.</summary>
    /// <param name="at">Position at which playback meets the decision record, or an earlier one.</param>
    public void Learn(RecordVersion commit, TxOutcome.Aborted? aborted, LogPosition at)
    {
        lock (_gate)
        {
            if (_waiting.TryGetValue(commit, out var known)) known.BecomeLearnt(aborted, at);
            else _waiting.Add(commit, CommitState.NewLearnt(commit, aborted, at));
        }
    }

    /// <summary>Playback has decided the expected record exactly at its position.</summary>
    /// <param name="isOwn">Tango 4.1, C: the generating client publishes at once; another host only if the record is
    /// orphaned.</param>
    /// <param name="now">Timestamp.</param>
    public void Decide(RecordVersion commit, TxOutcome.Aborted? aborted, bool isOwn, long now)
    {
        lock (_gate)
        {
            var decided = _waiting[commit];
            Decide(decided, aborted, now);
            if (isOwn && decided.State == CommitState.Phase.Decided) _own.Add(decided);
        }
    }

    /// <summary>Playback has reached a decision record.</summary>
    public void OnDecisionRecord(Decision decision, RecordVersion version)
    {
        lock (_gate)
        {
            if (!_waiting.Remove(decision.Commit, out var played)) return;
            if (played.IsDecidedHere) _decided--;
            OrDiverge(() => played.BecomePlayed(decision, version));
        }
    }

    /// <summary>Some streams are not played any more, and their decision records below are not met.</summary>
    public void ForgetLearntBelow(LogPosition position)
    {
        lock (_gate)
        {
            foreach (var passed in _waiting.Values.Where(known => !known.IsMet && known.LearntAt < position).ToList())
                _waiting.Remove(passed.Commit);
        }
    }

    /// <summary>Whether a decision record will follow that concerns the cohort: until it is played, what was decided
    /// here may be the only answer for others (R20).</summary>
    public bool Concerns(Cohort cohort)
    {
        lock (_gate)
            return _waiting.Count > 0 && cohort.Objects.Any(member => _waiting.Values.Any(
                known => known.IsMet && known.Streams.Contains(member.Id.Stream)));
    }

    /// <summary>Commit records that concern any of the streams and whose decision records were not played, lowest
    /// first.</summary>
    public ImmutableArray<AwaitedDecision> AwaitedBy(IReadOnlySet<StreamId> streams)
    {
        lock (_gate)
        {
            return
            [
                .. _waiting.Values.Where(known => known.IsMet && known.Streams.Any(streams.Contains)).Select(
                    static known => new AwaitedDecision(known.Commit, known.Streams, known.HasOutcome, known.Aborted)),
            ];
        }
    }

    /// <summary>A cohort of another playback, or of a checkpoint, goes on here: what was decided about its commit
    /// records without their decision records having been played.</summary>
    public void TakeOver(ImmutableArray<AwaitedDecision> awaited, long now)
    {
        lock (_gate)
        {
            foreach (var one in awaited)
            {
                var known = Meet(one.Commit, one.Streams);
                if (one.IsDecided) Decide(known, one.Aborted, now);
            }
        }
    }

    /// <summary>For another playback, which goes on from here; this one has ended. What others have published is left
    /// to its decision record.</summary>
    public ImmutableArray<AwaitedDecision> HandOver()
    {
        lock (_gate)
        {
            ImmutableArray<AwaitedDecision> awaited =
            [
                .. _waiting.Values.Where(static known => known.IsMet).Select(static known => new AwaitedDecision(
                    known.Commit, known.Streams, known.IsDecidedHere, known.IsDecidedHere ? known.Aborted : null)),
            ];
            Clear();
            return awaited;
        }
    }

    /// <summary>The decisions of own transactions that were not taken yet. The caller sends them.</summary>
    public ImmutableArray<DecidedCommit> TakeOwn()
    {
        lock (_gate)
        {
            if (_own.Count == 0) return [];
            var taken = Send(_own.Where(static known => known.State == CommitState.Phase.Decided));
            _own.Clear();
            return taken;
        }
    }

    /// <summary>The decisions of records that were decided at the timestamp or before, and whose decisions are not in
    /// the log as far as is known. The caller sends them.</summary>
    public ImmutableArray<DecidedCommit> TakeDecidedBy(long timestamp)
    {
        lock (_gate)
            return Send(_waiting.Values.Where(
                known => known.State == CommitState.Phase.Decided && known.DecidedAt <= timestamp));
    }

    /// <summary>Playback has ended, and no other one goes on from here: all decisions that were not sent.</summary>
    public ImmutableArray<DecidedCommit> TakeAll()
    {
        lock (_gate)
        {
            var taken = Send(_waiting.Values.Where(static known => known.State == CommitState.Phase.Decided));
            Clear();
            return taken;
        }
    }

    /// <summary>A decision that was taken is not known to be in the log.</summary>
    public void NotSent(RecordVersion commit)
    {
        lock (_gate)
        {
            // Another host's decision record may have been played meanwhile.
            if (_waiting.GetValueOrDefault(commit) is { State: CommitState.Phase.Sent } sent) sent.BecomeUnsent();
        }
    }

    private CommitState Meet(RecordVersion commit, ImmutableArray<StreamId> streams)
    {
        if (_waiting.TryGetValue(commit, out var known)) known.Meet(streams);
        else _waiting.Add(commit, known = CommitState.NewExpected(commit, streams));
        return known;
    }

    private void Decide(CommitState known, TxOutcome.Aborted? aborted, long now)
    {
        var wasDecided = known.IsDecidedHere;
        OrDiverge(() => known.BecomeDecided(aborted, now));
        if (known.IsDecidedHere && !wasDecided) _decided++;
    }

    private static ImmutableArray<DecidedCommit> Send(IEnumerable<CommitState> decided)
    {
        var taken = ImmutableArray.CreateBuilder<DecidedCommit>();
        foreach (var known in decided)
        {
            known.BecomeSent();
            taken.Add(new DecidedCommit(known.Commit, known.Aborted, known.Streams));
        }

        return taken.DrainToImmutable();
    }

    private void Clear()
    {
        _waiting.Clear();
        _own.Clear();
        _decided = 0;
    }

    private void OrDiverge(Action transition)
    {
        try
        {
            transition();
        }
        catch (TangoDivergenceException e)
        {
            Volatile.Write(ref _divergence, e);
            throw;
        }
    }
}
