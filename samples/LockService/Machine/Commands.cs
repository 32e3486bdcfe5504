namespace LockServiceSample.Machine;

/// <summary>Kind of a command.</summary>
public enum LockVerb
{
    /// <summary>Takes a lock that is free. Its owner takes it again with the same token.</summary>
    Acquire,

    /// <summary>Keeps the lock for another time to live.</summary>
    Renew,
    Release,

    /// <summary>Frees the lock of a silent holder. Void if the holder has renewed more often than the proposer saw.
    /// </summary>
    Expire,
}

/// <summary>A command.</summary>
/// <param name="Token">The holder's; 0 for <see cref="LockVerb.Acquire"/>.</param>
/// <param name="Renewals">Of <see cref="LockVerb.Expire"/>: the renewals that its proposer has seen.</param>
[MessagePackObject]
public sealed record LockOrder(
    [property: Key(0)] LockVerb Verb, [property: Key(1)] string Name, [property: Key(2)] string Owner = "",
    [property: Key(3)] long Token = 0, [property: Key(4)] long Renewals = 0);

/// <summary>Result of a command.</summary>
/// <param name="IsDone">False: the lock is another's, or is not held with this token any more.</param>
/// <param name="Token">The holder's, behind the command; 0: the lock is free.</param>
[MessagePackObject]
public sealed record LockReply([property: Key(0)] bool IsDone, [property: Key(1)] long Token);

/// <summary>A lock that is held.</summary>
/// <param name="Token">Higher than that of every holder of any lock before.</param>
/// <param name="Renewals">How often the holder has renewed the lock.</param>
[MessagePackObject]
public sealed record Held(
    [property: Key(0)] string Name, [property: Key(1)] string Owner, [property: Key(2)] long Token,
    [property: Key(3)] long Renewals);

/// <summary>A snapshot.</summary>
[MessagePackObject]
public sealed record LockContents([property: Key(0)] long LastToken, [property: Key(1)] Held[] Held);
