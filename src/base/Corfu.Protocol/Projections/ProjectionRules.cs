namespace Corfu.Protocol;

/// <summary>The structural invariants of a projection, checked wherever one is made or decoded.</summary>
internal static class ProjectionRules
{
    public static void Check(Projection p)
    {
        Require(p.Epoch >= Epoch.First, "the epoch is below 1");
        Require(!p.Cluster.IsNone, "there is no cluster id");
        Require(!p.Sequencer.Id.IsNone, "there is no sequencer");
        Require(!p.Segments.IsDefaultOrEmpty, "there are no segments");
        Require(p.Acceptors.Length % 2 == 1, "the number of acceptors is even");
        Require(p.Acceptors.Select(a => a.Id).Distinct().Count() == p.Acceptors.Length, "an acceptor is named twice");
        Require(p.Start >= p.Active.From, "the start lies below the active segment");
        var known = p.Units.Select(u => u.Id).ToHashSet();
        Require(known.Count == p.Units.Length, "a unit is named twice");
        for (var i = 0; i < p.Segments.Length; i++)
        {
            var segment = p.Segments[i];
            var last = i == p.Segments.Length - 1;
            Require(last == segment.Until is null, "exactly the last segment is open");
            Require(last || segment.Until == p.Segments[i + 1].From, "segments do not touch");
            Require(segment.Until is null || segment.From < segment.Until.Value, "a segment is empty");
            Require(segment.Chains.Length > 0, "a segment has no chains");
            foreach (var chain in segment.Chains) CheckChain(chain, known);
        }
    }

    private static void CheckChain(Chain chain, HashSet<NodeId> known)
    {
        Require(chain.FullCount > 0, "a chain has no full replica");
        Require(chain.Replicas.Select(r => r.Unit).Distinct().Count() == chain.Replicas.Length,
            "a unit stands twice in a chain");
        for (var i = 0; i < chain.Replicas.Length; i++)
        {
            Require(known.Contains(chain.Replicas[i].Unit), "a chain names an unknown unit");
            Require(chain.Replicas[i].Joining == i >= chain.FullCount,
                "a joining replica stands before a full one (R13)");
        }
    }

    private static void Require(bool condition, string what)
    {
        if (!condition) throw new MalformedDataException($"Invalid projection: {what}.");
    }
}
