namespace Corfu.Client;

/// <summary>Rules for what a reconfiguration may do to the ranges that exist (R2, R13, R14, R15).</summary>
internal static class MembershipRules
{
    public static void Check(Projection current, Membership next)
    {
        Require(
            next.Segments.Length == current.Segments.Length, "the segments are not those of the current projection");
        var dropped = new HashSet<NodeId>();
        for (var i = 0; i < next.Segments.Length; i++)
        {
            var (old, @new) = (current.Segments[i], next.Segments[i]);
            Require(old.From == @new.From && Nullable.Equals(old.Until, @new.Until), "a segment's range is changed");
            if (old.Chains.AsSpan().SequenceEqual(@new.Chains.AsSpan())) continue;

            // The active segment ends where the new one begins, and is closed from then on.
            var closed = @new.Until is not null || next.NextChains is not null;
            var decided = next.Decided.Contains(@new.From);
            Require(!decided || @new.Until is not null, "an open range is called decided (R15)");
            foreach (var (from, to) in ChainLists.Pairs(old.Chains, @new.Chains))
                CheckChain(from, to, closed, decided, next, dropped);
        }

        var chains = next.Segments.SelectMany(s => s.Chains).Concat(next.NextChains ?? []).ToList();
        foreach (var unit in dropped)
        {
            Require(
                !next.Units.Any(u => u.Id == unit), $"unit {unit} leaves one chain but stays in the projection (R2)");
            var stays = chains.Exists(c => IndexOf(c, unit) >= 0);
            Require(!stays, $"unit {unit} leaves one chain but stays in another (R2)");
        }
    }

    // The full replicas that stay keep their order and their place before all others, so that the new projection alone
    // says which is the first survivor (R13). In a range that is wholly decided, any full replica can take its place.
    private static void CheckChain(
        Chain old, Chain @new, bool closed, bool decided, Membership next, HashSet<NodeId> dropped)
    {
        var lost = old.Replicas.All(r => r.Joining || next.Destroyed.Contains(r.Unit));
        var at = 0;
        var others = false;
        foreach (var replica in @new.Replicas)
        {
            var index = IndexOf(old, replica.Unit);
            var wasFull = index >= 0 && !old.Replicas[index].Joining;
            if (wasFull)
            {
                Require(!replica.Joining, "a full replica becomes a joining one");
                Require(decided || (index >= at && !others), "the replicas of a chain change places (R13)");
                at = index + 1;
                continue;
            }

            others = true;
            if (!replica.Joining)
                Require(
                    lost || (index >= 0 && decided), "a replica becomes full before its range is decided on it (R15)");
            Require(closed || !replica.Joining, "a unit joins a range that is still written (R15)");
        }

        Require(lost || IsFullIn(old, @new.Head) || (decided && IndexOf(old, @new.Head) >= 0),
            "no replica of a chain survives: its entries would be lost (R14)");
        foreach (var replica in old.Replicas)
        {
            // Once the range is decided, no page that the unit holds of it can differ from the other replicas' (R2).
            if (!decided && IndexOf(@new, replica.Unit) < 0) dropped.Add(replica.Unit);
        }
    }

    private static bool IsFullIn(Chain chain, NodeId unit) =>
        IndexOf(chain, unit) is >= 0 and var index && !chain.Replicas[index].Joining;

    private static int IndexOf(Chain chain, NodeId unit) => chain.Replicas.ToList().FindIndex(r => r.Unit == unit);

    private static void Require(bool condition, string what)
    {
        if (!condition) throw new ReconfigurationException($"Refused: {what}.");
    }
}
