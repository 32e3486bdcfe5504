namespace Corfu.Agent;

/// <summary>Rules for a unit or an acceptor that decided projections name no more. Pure.</summary>
public static class Removal
{
    /// <summary>Whether an identity has left for good: a decided projection named it, and a later decided one does not.
    /// An identity that was removed never returns, so its owner may take another. A proposal that was never decided
    /// says nothing.</summary>
    public static bool IsFinal(NodeId id, Epoch named, Projection latest) =>
        named > Epoch.None && latest.Epoch > named && !Names(latest, id);

    public static bool Names(Projection projection, NodeId id) =>
        projection.HasUnit(id) || projection.Acceptors.Any(acceptor => acceptor.Id == id);

    /// <summary>Whether other replicas hold all entries of a removed unit. No range may have lost all its full
    /// replicas since (an operator's override). Each range that is not trimmed must have as many full replicas as the
    /// chains had when the unit left.</summary>
    /// <param name="history">Decided projections without a gap, from the last that named the unit to the
    /// newest.</param>
    public static bool IsRedundant(IReadOnlyList<Projection> history)
    {
        var replicas = history[0].Active.Chains.Max(chain => chain.FullCount);
        var newest = history[^1];
        for (var i = 1; i < history.Count; i++)
        {
            if (LosesEntries(history[i - 1], history[i])) return false;
        }

        return Untrimmed(newest, newest.TrimMark)
            .All(chain => chain.FullCount >= replicas && chain.FullCount == chain.Replicas.Length);
    }

    // An ordinary change keeps a full replica of each chain in the cluster. A chain whose full replicas have all left
    // was overridden.
    private static bool LosesEntries(Projection before, Projection after) => Untrimmed(before, after.TrimMark)
        .Any(chain => !chain.Replicas.Take(chain.FullCount).Any(replica => after.HasUnit(replica.Unit)));

    private static IEnumerable<Chain> Untrimmed(Projection projection, LogPosition mark) =>
        projection.Segments.Where(segment => segment.Until is not { } until || until > mark)
            .SelectMany(segment => segment.Chains);
}
