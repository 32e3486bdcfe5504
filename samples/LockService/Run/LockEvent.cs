namespace LockServiceSample.Run;

/// <summary>An event of a run. The run does one after the other, so that their order is known.</summary>
internal abstract record LockEvent(string Member)
{
    /// <summary>The service has given the lock to the member.</summary>
    public sealed record Acquired(string Member, long Token) : LockEvent(Member);

    /// <summary>SIGSTOP: the member holds the lock, and does not see the end of its lease.</summary>
    public sealed record Stopped(string Member) : LockEvent(Member);

    /// <summary>SIGCONT: the member tells the token with which it believes to hold the lock.</summary>
    public sealed record Continued(string Member, long Believed) : LockEvent(Member);

    /// <summary>The member has used the vault.</summary>
    /// <param name="IsTaken">The vault's verdict.</param>
    public sealed record Wrote(string Member, long Token, bool IsTaken) : LockEvent(Member);

    /// <summary>The member has renewed the lock.</summary>
    /// <param name="IsHeld">The service's verdict.</param>
    public sealed record Renewed(string Member, long Token, bool IsHeld) : LockEvent(Member);
}
