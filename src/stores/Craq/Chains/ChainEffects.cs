namespace Craq.Chains;

/// <summary>The clocks of one step.</summary>
/// <param name="Stamp">The node's monotonic clock, in ticks.</param>
/// <param name="Wall">Unix time in milliseconds, for the expiry of objects alone (C21).</param>
internal readonly record struct Moment(long Stamp, long Wall);

/// <summary>The effects that the steps of chains want outside the node's lock: answers, requests to members, reads of
/// values. Filled under the lock, carried out behind it.</summary>
internal sealed class ChainEffects(Moment now)
{
    public Moment Now { get; } = now;

    public List<(ReplyTo To, Response Response)> Answers { get; } = [];

    public List<ChainCall> Calls { get; } = [];

    /// <summary>Reads whose values are not in memory.</summary>
    public List<ReadPlan> Plans { get; } = [];

    /// <summary>Configs that answers brought.</summary>
    public List<ChainView> Views { get; } = [];

    /// <summary>Chains whose epoch has opened at their head (C5).</summary>
    public List<ChainId> Opened { get; } = [];

    /// <summary>Chains whose waiting reads ask the directory.</summary>
    public List<ChainId> Logged { get; } = [];

    /// <summary>Chains whose head has few versions left.</summary>
    public List<ChainId> Renewals { get; } = [];

    /// <summary>Mutations to make again: a lock that they met has gone.</summary>
    public List<(MutateRequest Request, ReplyTo To)> Again { get; } = [];

    /// <summary>Locks whose transactions get no outcome from their lead.</summary>
    public List<ExpiredLock> Expired { get; } = [];

    /// <summary>Chains that wait for the store to be durable up to there, in the order of the log.</summary>
    public List<(long Lsn, ChainId Chain)> Appended { get; } = [];

    public bool IsEmpty => Answers.Count + Calls.Count + Plans.Count + Views.Count + Opened.Count + Logged.Count
        + Renewals.Count + Again.Count + Expired.Count == 0;

    public void Answer(ReplyTo to, Response response) => Answers.Add((to, response));
}

/// <summary>A request of a chain to one of its members. Its answer comes back to the chain, which ignores it in another
/// epoch.</summary>
/// <param name="Tag">The sender's: the generation of its window, or the number of a round.</param>
internal sealed record ChainCall(ChainId Chain, NodeAddress To, Request Request, long Tag);
