namespace Craq.Reads;

/// <summary>A round under way. Sets of members are bits by place in the chain.</summary>
/// <param name="isClean">Nothing here was above the mark at the sending.</param>
/// <param name="waiters">All of them had arrived at the sending (C6).</param>
internal sealed class ReadRound(long number, long sent, RoundPlan plan, bool isClean, List<IRoundWaiter> waiters)
{
    private readonly bool _needsProof = waiters.Exists(static waiter => !waiter.IsConfirmed);

    // _exact <= _heard <= _asked, as sets: members that were asked, have answered, and are exactly at the epoch.
    private ulong _asked;
    private ulong _heard;
    private ulong _exact;

    public long Number => number;

    public long Sent => sent;

    public List<IRoundWaiter> Waiters { get; } = waiters;

    public bool NeedsTail { get; } = waiters.Exists(static waiter => !waiter.HasMark);

    public bool HasTail => (_exact & plan.TailBit) == plan.TailBit;

    /// <summary>The epoch was the newest at some moment after the sending.</summary>
    public bool IsProven => plan.AreEnough(_exact);

    /// <summary>All waiters have all that they wait for.</summary>
    public bool IsConfirmed => (!_needsProof || IsProven) && (!NeedsTail || HasTail);

    /// <summary>An answer is overdue.</summary>
    public bool IsLate { get; set; }

    /// <summary>No answer is left that could confirm it.</summary>
    public bool IsOver => _heard == Useful;

    /// <summary>All that was committed at the sending is at or below the mark here: the log here has all of it, and
    /// the tail has said what is committed, or nothing was above the mark.</summary>
    public bool ShowsCommitted => IsProven && (HasTail || isClean);

    /// <summary>Members that were asked and have not answered.</summary>
    public ulong Missing => _asked & ~_heard;

    private ulong Useful => _needsProof ? plan.Others : plan.TailBit;

    /// <returns>The members to ask first.</returns>
    public ulong Begin(ulong silent) => _asked = plan.Fewest(_needsProof, NeedsTail, silent);

    /// <returns>The members to ask besides.</returns>
    public ulong Widen()
    {
        var more = Useful & ~_asked;
        _asked = Useful;
        return more;
    }

    public void Take(ulong member, bool isExact)
    {
        if ((Missing & member) == 0) return;
        _heard |= member;
        if (isExact) _exact |= member;
    }

    public override string ToString() =>
        $"{Waiters.Count}:{_asked:x}:{_heard:x}:{_exact:x}:{NeedsTail}:{_needsProof}:{isClean}";
}
