using Craq.Coordination;

namespace Craq.Reads;

/// <summary>A request that joins a round.</summary>
internal interface IRoundWaiter
{
    /// <summary>The stamp of its arrival.</summary>
    long Arrived { get; }

    /// <summary>The epoch was the newest as of some moment after the arrival (C6).</summary>
    bool IsConfirmed { get; set; }

    /// <summary>The tail's mark as of some moment after the arrival has been taken over.</summary>
    bool HasTailsMark { get; set; }
}

/// <summary>Whom a member asks in one epoch, and what is enough.</summary>
/// <param name="Members">By place in the chain.</param>
/// <param name="Tail">The tail; none: the asking member is the tail.</param>
internal sealed record RoundPlan(ImmutableArray<NodeId> Members, NodeId Self, NodeId Tail, EpochWitnesses Witnesses)
{
    public static RoundPlan For(ChainConfig config, NodeId self) => new(
        [.. config.Members.Select(member => member.Node)], self,
        config.Tail.Node == self ? NodeId.None : config.Tail.Node, EpochWitnesses.Of(config, self));

    /// <summary>Members that have said that they are exactly at the epoch prove that none behind it had opened
    /// (C6).</summary>
    public bool AreEnough(ulong exact) => Witnesses.AreEnough(exact) || Planted.Is("stale-tail")
        || (Planted.Is("tail-believes-itself") && Tail.IsNone);
}

/// <summary>The rounds in which a member proves for its waiting reads that its epoch is the newest. A read joins the
/// next round that starts, never one under way (C6). Pure; under the node's lock.</summary>
internal sealed class ReadRounds
{
    /// <summary>Rounds under way; more reads wait for one of them to end.</summary>
    public const int MaxRunning = 8;

    private readonly List<Round> _running = [];
    private List<IRoundWaiter> _next = [];
    private long _number;

    // When the newest round was sent that proved nothing; null: the newest one that ended did.
    private long? _failedAt;

    private sealed class Round(long number, long sent, RoundPlan plan, List<IRoundWaiter> waiters)
    {
        // Members that have not answered, and those that are exactly at the epoch, by place.
        private ulong _open = All(plan);
        private ulong _exact;

        public long Number => number;

        public long Sent => sent;

        public List<IRoundWaiter> Waiters { get; } = waiters;

        public override string ToString() => $"{Waiters.Count}:{_open:x}:{_exact:x}:{HasTail}";

        public bool HasTail { get; private set; } = plan.Tail.IsNone;

        public bool IsConfirmed => HasTail && plan.AreEnough(_exact);

        /// <summary>No answer is left that could confirm it.</summary>
        public bool IsOver => _open == 0;

        public void Take(NodeId member, bool isExact)
        {
            var bit = 1UL << plan.Members.IndexOf(member);
            if ((_open & bit) == 0) return;
            _open &= ~bit;
            if (!isExact) return;
            _exact |= bit;
            HasTail |= member == plan.Tail;
        }

        private static ulong All(RoundPlan plan)
        {
            var all = 0UL;
            for (var i = 0; i < plan.Members.Length; i++)
            {
                if (plan.Members[i] != plan.Self) all |= 1UL << i;
            }

            return all;
        }
    }

    /// <summary>Waiters that no round has.</summary>
    public bool HasNext => _next.Count > 0;

    public bool IsEmpty => _next.Count == 0 && _running.Count == 0;

    /// <summary>When the newest confirmed round was sent (C17); null: none in this epoch.</summary>
    public long? ConfirmedAt { get; private set; }

    public void Join(IRoundWaiter waiter)
    {
        if (Planted.Is("joins-a-running-round") && _running.Count > 0) _running[^1].Waiters.Add(waiter);
        else _next.Add(waiter);
    }

    /// <summary>Starts a round for all that wait, if there are some and a round may start.</summary>
    /// <param name="spacing">A round that is not the only one, or follows one that proved nothing, starts so long
    /// after the newest.</param>
    /// <param name="done">Gets the waiters of a round that needs no answer: they have left.</param>
    /// <returns>The round's number, to ask all others; null: none starts, or it needs no answer and is over.</returns>
    public long? TryStart(RoundPlan plan, long now, long spacing, List<IRoundWaiter> done)
    {
        if (_next.Count == 0 || _running.Count >= MaxRunning) return null;
        var last = _running.Count > 0 ? _running[^1].Sent : _failedAt;
        if (last is { } sent && now - sent < spacing) return null;
        var round = new Round(++_number, now, plan, _next);
        _next = [];
        _running.Add(round);
        End(round, now, done);
        return _running.Count > 0 && _running[^1] == round ? round.Number : null;
    }

    /// <summary>Takes a member's answer to a round.</summary>
    /// <param name="isExact">False also where there was no answer.</param>
    /// <param name="done">Gets the waiters that got something.</param>
    /// <returns>The round is confirmed, and its waiters have left.</returns>
    public bool Take(long number, NodeId member, bool isExact, long now, List<IRoundWaiter> done)
    {
        if (_running.Find(round => round.Number == number) is not { } round) return false;
        var hadTail = round.HasTail;
        round.Take(member, isExact);
        if (round.HasTail && !hadTail && !round.IsConfirmed)
        {
            foreach (var waiter in round.Waiters) waiter.HasTailsMark = true;
            done.AddRange(round.Waiters);
        }

        End(round, now, done);
        return round.IsConfirmed;
    }

    /// <summary>The directory said, asked at that moment, that the epoch is the newest. What is committed in it, only
    /// the tail says: the age of what is here stays.</summary>
    public void Logged(long asked, List<IRoundWaiter> done)
    {
        foreach (var waiter in All())
        {
            if (waiter.Arrived > asked) continue;
            waiter.IsConfirmed = true;
            done.Add(waiter);
        }
    }

    /// <summary>All waiters, with duplicates of none.</summary>
    public IEnumerable<IRoundWaiter> All() => _running.SelectMany(round => round.Waiters).Concat(_next);

    public void Remove(IRoundWaiter waiter)
    {
        if (_next.Remove(waiter)) return;
        foreach (var round in _running)
        {
            if (round.Waiters.Remove(waiter)) return;
        }
    }

    /// <summary>-1: the round is over.</summary>
    public int PlaceOf(long number) => _running.FindIndex(round => round.Number == number);

    public override string ToString() => $"{_next.Count} {string.Join(',', _running)}";

    /// <summary>Another epoch: nothing of the old one confirms it.</summary>
    public List<IRoundWaiter> Clear()
    {
        var all = All().ToList();
        _running.Clear();
        _next = [];
        ConfirmedAt = null;
        _failedAt = null;
        return all;
    }

    private void End(Round round, long now, List<IRoundWaiter> done)
    {
        if (round.IsConfirmed)
        {
            _running.Remove(round);
            _failedAt = null;
            // The age counts from the sending: an answer may have been long under way (C17).
            var at = Planted.Is("age-from-arrival") ? now : round.Sent;
            if (ConfirmedAt is not { } before || before < at) ConfirmedAt = at;
            foreach (var waiter in round.Waiters)
            {
                waiter.IsConfirmed = true;
                waiter.HasTailsMark = true;
            }

            done.AddRange(round.Waiters);
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
