using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>What a reconfiguration may do to the ranges that exist (R2, R13, R14, R15).</summary>
internal static class MembershipRules
{
    public static void Check(Projection current, Membership next)
    {
        Require(next.Segments.Length == current.Segments.Length, "the segments are not those of the current projection");
        var dropped = new HashSet<NodeId>();
        for (var i = 0; i < next.Segments.Length; i++)
        {
            var (old, @new) = (current.Segments[i], next.Segments[i]);
            Require(old.From == @new.From && Nullable.Equals(old.Until, @new.Until), "a segment's range is changed");
            Require(old.Chains.Length == @new.Chains.Length, "a segment's number of chains is changed");
            for (var j = 0; j < old.Chains.Length; j++) CheckChain(old.Chains[j], @new.Chains[j], @new.Until is not null, dropped);
        }

        foreach (var unit in dropped)
        {
            Require(!next.Units.Any(u => u.Id == unit), $"unit {unit} leaves one chain but stays in the projection (R2)");
            Require(
                !next.Segments.Any(s => s.Chains.Any(c => c.Replicas.Any(r => r.Unit == unit))) &&
                !(next.NextChains is { } chains && chains.Any(c => c.Replicas.Any(r => r.Unit == unit))),
                $"unit {unit} leaves one chain but stays in another (R2)");
        }
    }

    // The full replicas that stay keep their order, so that the first survivor can be read from the new projection alone (R13).
    private static void CheckChain(Chain old, Chain @new, bool closed, HashSet<NodeId> dropped)
    {
        var at = 0;
        foreach (var replica in @new.Replicas)
        {
            var index = IndexOf(old, replica.Unit);
            if (index < 0)
            {
                Require(replica.Joining && closed, "a unit joins a chain as a full replica, or one that is still written (R15)");
                continue;
            }

            Require(index >= at, "the replicas of a chain change places (R13)");
            Require(replica.Joining || !old.Replicas[index].Joining || closed, "a joining unit becomes full in an open range (R15)");
            at = index + 1;
        }

        Require(IndexOf(old, @new.Head) is >= 0 and var head && !old.Replicas[head].Joining, "no replica of a chain survives: its entries would be lost (R14)");
        foreach (var replica in old.Replicas)
        {
            if (IndexOf(@new, replica.Unit) < 0) dropped.Add(replica.Unit);
        }
    }

    private static int IndexOf(Chain chain, NodeId unit)
    {
        for (var i = 0; i < chain.Replicas.Length; i++)
        {
            if (chain.Replicas[i].Unit == unit) return i;
        }

        return -1;
    }

    private static void Require(bool condition, string what)
    {
        if (!condition) throw new ReconfigurationException($"Refused: {what}.");
    }
}
