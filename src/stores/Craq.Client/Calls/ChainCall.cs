namespace Craq.Calls;

/// <summary>The result of one attempt at an operation: a value, or the status for which it is repeated.</summary>
/// <param name="View">The config that came with the status.</param>
internal readonly record struct Attempt<T>(bool IsDone, T Value, Status Status, ChainView? View)
{
    public static implicit operator Attempt<T>(T value) => new(true, value, Status.Ok, null);

    public static Attempt<T> Refused(Status status, ChainView? view) => new(false, default!, status, view);
}

/// <summary>An operation on one chain, as <see cref="Retry"/> repeats it.</summary>
internal abstract class ChainCall<T>(ChainEntry chain)
{
    public ChainEntry Chain => chain;

    /// <summary>The operation, for people.</summary>
    public abstract string What { get; }

    /// <summary>The member for the next attempt of this round; -1: all had their chance.</summary>
    public abstract int Next(ChainRoute route);

    /// <summary>Every member has a chance again.</summary>
    public abstract void BeginRound();

    public abstract ValueTask<Attempt<T>> TryAsync(ChainRoute route, int member, CancellationToken cancellationToken);

    /// <summary>No further attempt is made: the outcome as far as it is known, or an exception.</summary>
    public abstract T GiveUp(CorfuException reason);
}
