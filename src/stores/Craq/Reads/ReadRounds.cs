namespace Craq.Reads;

/// <summary>What joins a round.</summary>
internal interface IRoundWaiter
{
    /// <summary>The stamp of its arrival.</summary>
    long Arrived { get; }

    /// <summary>The epoch was the newest as of some moment after the arrival (C6).</summary>
    bool IsConfirmed { get; set; }

    /// <summary>The tail's mark as of some moment after the arrival has been taken over.</summary>
    bool HasTailsMark { get; set; }
}

/// <summary>The members that a round asks, and how many of them must confirm.</summary>
/// <param name="Counting">Members that count, without the asking one.</param>
/// <param name="Needed">Confirmations of counting members that prove the epoch.</param>
/// <param name="Tail">The tail; none: the asking member is the tail.</param>
internal readonly record struct RoundPlan(ImmutableArray<NodeId> Counting, int Needed, NodeId Tail)
{
    /// <summary>For a chain in one epoch. Had a later epoch opened, <c>minimum</c> counting members other than the
    /// asking one would be beyond this one; any <c>counting - minimum + 1</c> of them have one that says so
    /// (C6).</summary>
    public static RoundPlan For(ChainConfig config, NodeId self)
    {
        var counting = ImmutableArray.CreateBuilder<NodeId>(config.Members.Length);
        foreach (var member in config.Members)
        {
            if (member.Node != self && config.Counts(member)) counting.Add(member.Node);
        }

        var needed = Math.Max(0, counting.Count - ReadMinimum.Of(config) + 1);
        if (Planted.Is("tail-believes-itself") && config.Tail.Node == self) needed = 0;
        if (Planted.Is("stale-tail")) needed = 0;
        return new RoundPlan(counting.ToImmutable(), needed,
            config.Tail.Node == self ? NodeId.None : config.Tail.Node);
    }
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

    private sealed class Round(long number, long sent, RoundPlan plan, List<IRoundWaiter> waiters)
    {
        private readonly HashSet<NodeId> _open = [.. plan.Counting];
        private int _needed = plan.Needed;

        public long Number => number;

        public long Sent => sent;

        public List<IRoundWaiter> Waiters { get; } = waiters;

        public bool HasTail { get; private set; } = plan.Tail.IsNone;

        public bool IsConfirmed => _needed <= 0 && HasTail;

        /// <summary>No answer is left that could confirm it.</summary>
        public bool IsOver => _open.Count == 0;

        public IEnumerable<NodeId> Asked => _open;

        public void Begin()
        {
            if (!plan.Tail.IsNone) _open.Add(plan.Tail);
            if (_needed <= 0 && plan.Tail.IsNone) _open.Clear();
        }

        public void Take(NodeId member, bool isExact)
        {
            if (!_open.Remove(member) || !isExact) return;
            if (plan.Counting.Contains(member)) _needed--;
            if (member == plan.Tail) HasTail = true;
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
    /// <param name="spacing">A round that is not the only one starts so long after the newest.</param>
    /// <param name="asked">Those to ask; empty and true: the round is confirmed, and in <paramref name="done"/>.</param>
    public bool TryStart(RoundPlan plan, long now, long spacing, out long number, out ImmutableArray<NodeId> asked,
        List<IRoundWaiter> done)
    {
        (number, asked) = (0, []);
        if (_next.Count == 0 || _running.Count >= MaxRunning) return false;
        if (_running.Count > 0 && now - _running[^1].Sent < spacing) return false;
        var round = new Round(++_number, now, plan, _next);
        _next = [];
        round.Begin();
        _running.Add(round);
        (number, asked) = (round.Number, [.. round.Asked]);
        End(round, done);
        return true;
    }

    /// <summary>Takes a member's answer to a round.</summary>
    /// <param name="isExact">False also where there was no answer.</param>
    /// <param name="done">Gets the waiters that got something.</param>
    public void Take(long number, NodeId member, bool isExact, List<IRoundWaiter> done)
    {
        if (_running.Find(round => round.Number == number) is not { } round) return;
        var hadTail = round.HasTail;
        round.Take(member, isExact);
        if (round.HasTail && !hadTail && !round.IsConfirmed)
        {
            foreach (var waiter in round.Waiters) waiter.HasTailsMark = true;
            done.AddRange(round.Waiters);
        }

        End(round, done);
    }

    /// <summary>The directory said, asked at that moment, that the epoch is the newest.</summary>
    public void Logged(long asked, List<IRoundWaiter> done)
    {
        ConfirmedAt = Math.Max(ConfirmedAt ?? asked, asked);
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

    /// <summary>Another epoch: nothing of the old one confirms it.</summary>
    public List<IRoundWaiter> Clear()
    {
        var all = All().ToList();
        _running.Clear();
        _next = [];
        ConfirmedAt = null;
        return all;
    }

    private void End(Round round, List<IRoundWaiter> done)
    {
        if (round.IsConfirmed)
        {
            _running.Remove(round);
            // The age counts from the sending: an answer may have been long under way (C17).
            if (ConfirmedAt is not { } before || before < round.Sent) ConfirmedAt = round.Sent;
            foreach (var waiter in round.Waiters)
            {
                waiter.IsConfirmed = true;
                waiter.HasTailsMark = true;
            }

            done.AddRange(round.Waiters);
        }
        else if (round.IsOver)
        {
            // Nothing was proved: its waiters join the next one.
            _running.Remove(round);
            _next.AddRange(round.Waiters);
        }
    }
}
