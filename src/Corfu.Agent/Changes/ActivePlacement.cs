using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>Membership and chains when units leave the chains of new entries.</summary>
internal static class ActivePlacement
{
    /// <summary>
    /// A spare takes the place of a unit that leaves (<see cref="Membership.WithReplaced"/>). Where spares are missing,
    /// the chains of new entries are made anew from the units that remain, as a new cluster's are, so that they keep
    /// their replicas while there are units enough.
    /// </summary>
    /// <returns>The membership given, if nothing is to be changed.</returns>
    /// <exception cref="ReconfigurationException">A chain would have no full replica left (R14).</exception>
    public static Membership Without(Membership membership, Projection projection, ImmutableArray<UnitExit> exits,
        int replicas)
    {
        var before = membership;
        foreach (var exit in exits)
        {
            // Done already by somebody else; or the spare is none any more.
            if (!projection.HasUnit(exit.Unit.Id)) continue;
            var spare = exit.Spare is { } one && !projection.HasUnit(one.Id) ? exit.Spare : null;
            if (exit.Keeps) membership = Leave(membership, exit.Unit.Id, spare);
            else
                membership = spare is { } heir
                    ? membership.WithReplaced(exit.Unit.Id, heir)
                    : membership.Without(exit.Unit.Id);
        }

        if (ReferenceEquals(before, membership)) return before;
        var chains = Active(membership);
        var units = Units(chains);
        return Shortest(chains) < Math.Min(replicas, units.Count)
            ? membership.WithNextChains(Ring(units, replicas), [])
            : membership;
    }

    /// <summary>A spare that came late: it takes its share of new entries, and joins the closed chains that units have
    /// left (TOCS 2.5, Fig. 5 C and D).</summary>
    public static Membership With(Membership membership, NodeAddress spare, int replicas) => membership
        .WithNextChains(Ring([.. Units(Active(membership)), spare.Id], replicas), [spare])
        .WithJoining(chain => chain.Replicas.Length < replicas ? spare.Id : null, [spare]);

    /// <summary>Whether entries that are not trimmed have fewer replicas than they should. What is trimmed is about to
    /// be migrated.</summary>
    public static bool IsShort(Projection projection, int replicas) => projection.Segments.Any(segment =>
        (segment.Until is not { } until || until > projection.TrimMark)
        && segment.Chains.Any(chain => chain.Replicas.Length < replicas));

    /// <summary>The chains that new entries will have.</summary>
    public static ImmutableArray<Chain> Active(Membership membership) =>
        membership.NextChains ?? membership.Segments[^1].Chains;

    /// <summary>As many chains as units, each with the next ones behind its head.</summary>
    public static ImmutableArray<Chain> Ring(IReadOnlyList<NodeId> units, int replicas)
    {
        var length = Math.Min(replicas, units.Count);
        return
        [
            .. Enumerable.Range(0, units.Count).Select(head =>
                new Chain([.. Enumerable.Range(head, length).Select(i => new Replica(units[i % units.Count]))])),
        ];
    }

    /// <summary>Replicas of the shortest of these chains.</summary>
    public static int Shortest(ImmutableArray<Chain> chains) => chains.Min(chain => chain.FullCount);

    // The unit stays where its entries are.
    private static Membership Leave(Membership membership, NodeId unit, NodeAddress? spare)
    {
        var chains = Active(membership);
        if (!chains.Any(chain => chain.Replicas.Any(r => r.Unit == unit))) return membership;
        if (spare is not { } heir)
        {
            var rest = Units(chains).Where(id => id != unit).ToList();
            return rest.Count == 0 ? membership : membership.WithNextChains(Ring(rest, Shortest(chains)), []);
        }

        return membership.WithNextChains(
            [.. chains.Select(chain => chain.Replicas.Any(r => r.Unit == unit)
                ? new Chain([.. Full(chain).Where(id => id != unit).Append(heir.Id).Select(id => new Replica(id))])
                : chain)],
            [heir]);
    }

    private static List<NodeId> Units(ImmutableArray<Chain> chains)
    {
        List<NodeId> units = [];
        foreach (var unit in chains.SelectMany(Full))
        {
            if (!units.Contains(unit)) units.Add(unit);
        }

        return units;
    }

    private static IEnumerable<NodeId> Full(Chain chain) =>
        chain.Replicas.Take(chain.FullCount).Select(replica => replica.Unit);
}
