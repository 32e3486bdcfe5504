using Craq.Coordination;

namespace Craq.Reads;

/// <summary>A request that joins a round.</summary>
internal interface IRoundWaiter
{
    /// <summary>The stamp of its arrival.</summary>
    long Arrived { get; }

    /// <summary>The epoch was the newest as of some moment after the arrival (C6, C7).</summary>
    bool IsConfirmed { get; set; }

    /// <summary>The versions committed before the arrival, of the objects that it reads, are at or below the mark here:
    /// the tail has said what is committed, or nothing of them was above the mark.</summary>
    /// <remarks>A full member's log has all that was committed in its epoch, and before.</remarks>
    bool HasMark { get; set; }
}

/// <summary>The rounds in which a member proves for its waiting reads that its epoch is the newest, and hears the
/// tail's mark. A read joins the next round that starts, never one under way (C6). Pure; under the node's lock.
/// </summary>
/// <remarks>A round asks the fewest members that suffice. The others are asked too where an answer is no proof, or is
/// late.</remarks>
internal sealed class ReadRounds
{
    /// <summary>Rounds under way that are not late; more reads wait for one of them to end.</summary>
    public const int MaxRunning = 8;

    private readonly List<ReadRound> _running = [];
    private List<IRoundWaiter> _next = [];
    private long _number;

    // When the newest round was sent that proved nothing; null: the newest one that ended did.
    private long? _failedAt;

    // Members whose newest answer is late or was no proof: rounds count on the others. By place in the chain.
    private ulong _silent;

    // The time that the newest confirmed round took: far members are not late.
    private long _took;

    /// <summary>Waiters that no round has.</summary>
    public bool HasNext => _next.Count > 0;

    public bool IsEmpty => _next.Count == 0 && _running.Count == 0;

    /// <summary>A moment whose committed state is here, by the newest proof (C17); null: none in this epoch.</summary>
    public long? ConfirmedAt { get; private set; }

    public void Join(IRoundWaiter waiter)
    {
        if (Planted.Is("joins-a-running-round")
            && _running.Find(round => round.NeedsTail || waiter.HasMark) is { } early) early.Waiters.Add(waiter);
        else _next.Add(waiter);
    }

    /// <summary>Starts a round for all that wait, if there are some and a round may start.</summary>
    /// <param name="spacing">A round that is not the only one, or follows one that proved nothing, starts so long
    /// after the newest.</param>
    /// <param name="isClean">Nothing here is above the mark.</param>
    public void TryStart(RoundPlan plan, long now, long spacing, bool isClean, RoundStep step)
    {
        if (_next.Count == 0 || _running.Count(static round => !round.IsLate) >= MaxRunning) return;
        var last = _running.Count > 0 ? _running[^1].Sent : _failedAt;
        if (last is { } sent && now - sent < spacing) return;
        var round = new ReadRound(++_number, now, plan, isClean, _next);
        _next = [];
        _running.Add(round);
        End(round, now, step);
        if (!round.IsConfirmed) Ask(round, round.Begin(_silent), plan, step);
    }

    /// <summary>Takes a member's answer to a round.</summary>
    /// <param name="isExact">False also where there was no answer.</param>
    public void Take(RoundPlan plan, long number, NodeId member, bool isExact, long now, RoundStep step)
    {
        var place = plan.Members.IndexOf(member);
        if (place < 0) return;
        var bit = 1UL << place;
        if (isExact) _silent &= ~bit;
        else _silent |= bit;
        if (_running.Find(round => round.Number == number) is not { } round) return;
        var (hadTail, wasProven) = (round.HasTail, round.IsProven);
        round.Take(bit, isExact);
        if (!round.IsConfirmed && (round.HasTail != hadTail || round.IsProven != wasProven))
        {
            foreach (var waiter in round.Waiters)
            {
                waiter.IsConfirmed |= round.IsProven;
                waiter.HasMark |= round.HasTail;
            }

            step.Heard.AddRange(round.Waiters);
        }

        End(round, now, step);
        if (!isExact && !round.IsConfirmed && !round.IsOver) Ask(round, round.Widen(), plan, step);
    }

    /// <summary>Asks all members in rounds that wait for an answer for so long, or for twice as long as the newest
    /// confirmed one.</summary>
    public void Widen(RoundPlan plan, long now, long silence, RoundStep step)
    {
        foreach (var round in _running)
        {
            if (now - round.Sent < Math.Max(silence, 2 * _took)) continue;
            round.IsLate = true;
            _silent |= round.Missing;
            Ask(round, round.Widen(), plan, step);
        }
    }

    /// <summary>The epoch was the newest at that moment by another proof, and all that was committed then is at or
    /// below the mark.</summary>
    public void Confirmed(long at)
    {
        if (ConfirmedAt is not { } before || before < at) ConfirmedAt = at;
    }

    /// <summary>The directory said, asked at that moment, that the epoch is the newest. What is committed in it, only
    /// the tail says: the age of what is here stays.</summary>
    public void Logged(long asked, RoundStep step)
    {
        foreach (var waiter in All())
        {
            if (waiter.Arrived > asked) continue;
            waiter.IsConfirmed = true;
            step.Heard.Add(waiter);
        }
    }

    /// <summary>All waiters, with duplicates of none.</summary>
    public IEnumerable<IRoundWaiter> All() => _running.SelectMany(round => round.Waiters).Concat(_next);

    /// <summary>Removes waiters that have ended, in one pass: thousands may end at once.</summary>
    /// <param name="isEnded">Asked of each once, in the order of <see cref="All"/>; may answer the request.</param>
    public void RemoveAll(Predicate<IRoundWaiter> isEnded)
    {
        foreach (var round in _running) round.Waiters.RemoveAll(isEnded);
        _next.RemoveAll(isEnded);
    }

    /// <summary>-1: the round is over.</summary>
    public int PlaceOf(long number) => _running.FindIndex(round => round.Number == number);

    public override string ToString() => $"{_next.Count} "
        + $"{_next.Count(static waiter => waiter.IsConfirmed)} {_silent:x} {string.Join(',', _running)}";

    /// <summary>Another epoch: nothing of the old one confirms it.</summary>
    public List<IRoundWaiter> Clear()
    {
        var all = All().ToList();
        _running.Clear();
        _next = [];
        ConfirmedAt = null;
        _failedAt = null;
        (_silent, _took) = (0, 0);
        return all;
    }

    private static void Ask(ReadRound round, ulong members, RoundPlan plan, RoundStep step)
    {
        for (var place = 0; members != 0; place++, members >>= 1)
        {
            if ((members & 1) != 0) step.Questions.Add(new RoundQuestion(round.Number, plan.Members[place]));
        }
    }

    private void End(ReadRound round, long now, RoundStep step)
    {
        if (round.IsConfirmed)
        {
            _running.Remove(round);
            _failedAt = null;
            _took = now - round.Sent;
            // The age counts from the sending: an answer may have been long under way (C17).
            if (round.ShowsCommitted) Confirmed(Planted.Is("age-from-arrival") ? now : round.Sent);
            foreach (var waiter in round.Waiters)
            {
                waiter.IsConfirmed = true;
                waiter.HasMark |= round.HasTail;
            }

            step.Left.AddRange(round.Waiters);
        }
        else if (round.IsOver)
        {
            // Nothing was proved: its waiters join the next one, which does not follow at once.
            _running.Remove(round);
            _failedAt = Math.Max(_failedAt ?? round.Sent, round.Sent);
            _next.AddRange(round.Waiters);
        }
    }
}
