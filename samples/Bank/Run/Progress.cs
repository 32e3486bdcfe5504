namespace BankSample.Run;

/// <summary>How far a run has come. Any thread.</summary>
internal sealed class Progress(BankPlan plan)
{
    private int _answered;
    private int _killed;

    /// <summary>Transfers that have an answer.</summary>
    public int Answered => Volatile.Read(ref _answered);

    public bool IsKillDue => Answered >= plan.NextKillAt(Volatile.Read(ref _killed));

    /// <summary>Whether clients wait: they go on while a replica is killed, and not past the next kill.</summary>
    public bool IsAhead => Answered >= plan.NextKillAt(Volatile.Read(ref _killed) + 1);

    public void HasAnswer() => Interlocked.Increment(ref _answered);

    public void HasKilled() => Interlocked.Increment(ref _killed);
}
