namespace LockServiceSample.Machine;

/// <summary>Kind of a command.</summary>
public enum LockVerb
{
    /// <summary>Takes a lock that is free. Its owner takes it again with the same token.</summary>
    Acquire,

    /// <summary>A sign of life.</summary>
    Renew,
    Release,

    /// <summary>Frees a lock whose holder was silent: if it has not renewed since it was last looked at.</summary>
    Expire,
}

/// <summary>A command.</summary>
/// <param name="Token">The holder's; 0 for <see cref="LockVerb.Acquire"/>.</param>
/// <param name="Renewals">Signs of life that the replica has seen which proposes <see cref="LockVerb.Expire"/>.</param>
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
/// <param name="Renewals">Grows with each sign of life.</param>
[MessagePackObject]
public sealed record Held(
    [property: Key(0)] string Name, [property: Key(1)] string Owner, [property: Key(2)] long Token,
    [property: Key(3)] long Renewals);

/// <summary>A snapshot.</summary>
[MessagePackObject]
public sealed record LockContents([property: Key(0)] long LastToken, [property: Key(1)] Held[] Held);
