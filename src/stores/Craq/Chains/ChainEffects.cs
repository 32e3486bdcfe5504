using System.Runtime.InteropServices;

namespace Craq.Chains;

/// <summary>The clocks of one step.</summary>
/// <param name="Stamp">The node's monotonic clock, in ticks.</param>
/// <param name="Wall">Unix time in milliseconds, for the expiry of objects alone (C21).</param>
internal readonly record struct Moment(long Stamp, long Wall);

/// <summary>The effects that the steps of chains want outside the node's lock: answers, requests to members, reads of
/// values. Filled under the lock, carried out behind it. Each request has one, and fills few of the lists.</summary>
internal sealed class ChainEffects(Moment now)
{
    public Moment Now { get; } = now;

    public LazyList<(ReplyTo To, Response Response)> Answers;

    public LazyList<ChainCall> Calls;

    /// <summary>Reads whose values are not in memory.</summary>
    public LazyList<ReadPlan> Plans;

    /// <summary>Configs that answers brought.</summary>
    public LazyList<ChainView> Views;

    /// <summary>Chains whose epoch has opened at their head (C5).</summary>
    public LazyList<ChainId> Opened;

    /// <summary>Chains whose waiting reads ask the directory.</summary>
    public LazyList<ChainId> Logged;

    /// <summary>Chains whose head has few versions left.</summary>
    public LazyList<ChainId> Renewals;

    /// <summary>Mutations to make again: a lock that they met has gone.</summary>
    public LazyList<(MutateRequest Request, ReplyTo To)> Again;

    /// <summary>Locks whose transactions get no outcome from their lead.</summary>
    public LazyList<ExpiredLock> Expired;

    /// <summary>Chains that wait for the store to be durable up to there, in the order of the log.</summary>
    public LazyList<(long Lsn, ChainId Chain)> Appended;

    public bool IsEmpty => Answers.Count + Calls.Count + Plans.Count + Views.Count + Opened.Count + Logged.Count
        + Renewals.Count + Again.Count + Expired.Count == 0;

    public void Answer(ReplyTo to, Response response) => Answers.Add((to, response));
}

/// <summary>A list that has no memory before its first item. A field, never a copy.</summary>
internal struct LazyList<T>
{
    private List<T>? _items;

    public readonly int Count => _items?.Count ?? 0;

    public void Add(T item) => (_items ??= []).Add(item);

    public readonly void Clear() => _items?.Clear();

    public readonly Span<T>.Enumerator GetEnumerator() => CollectionsMarshal.AsSpan(_items).GetEnumerator();
}

/// <summary>A request of a chain to one of its members. Its answer comes back to the chain, which ignores it in another
/// epoch.</summary>
/// <param name="Tag">The sender's: the generation of its window, or the number of a round.</param>
internal sealed record ChainCall(ChainId Chain, NodeAddress To, Request Request, long Tag);
