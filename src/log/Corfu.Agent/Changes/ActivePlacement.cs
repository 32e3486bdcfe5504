namespace Corfu.Agent;

/// <summary>Membership and chains when units leave the chains of new entries.</summary>
internal static class ActivePlacement
{
    /// <summary>A spare takes the place of a unit that leaves (<see cref="Membership.WithReplaced"/>). Without enough
    /// spares, the chains of new entries are made anew from the units that remain, as in a new cluster. They keep their
    /// number of replicas while there are units enough.</summary>
    /// <returns>The membership given, if nothing is to be changed.</returns>
    /// <exception cref="ReconfigurationException">A chain would have no full replica left (R14).</exception>
    public static Membership Without(Membership membership, Projection projection, ImmutableArray<UnitExit> exits,
        int replicas)
    {
        var before = membership;
        // A unit may have left, and a spare joined, by another agent's change.
        foreach (var exit in exits.Where(exit => projection.HasUnit(exit.Unit.Id)))
        {
            var id = exit.Unit.Id;
            var spare = exit.Spare is { } free && !projection.HasUnit(free.Id) ? exit.Spare : null;
            membership = exit.Keeps ? Leave(membership, id, spare, Shortest(Active(membership)))
                : spare is { } replacement ? membership.WithReplaced(id, replacement) : membership.Without(id);
        }

        if (ReferenceEquals(before, membership)) return before;
        var chains = Active(membership);
        var units = Units(chains);
        return Shortest(chains) < Math.Min(replicas, units.Length)
            ? membership.WithNextChains(Ring(units, replicas), [])
            : membership;
    }

    /// <summary>A unit stays where its entries are and gets no new ones: a spare takes its place for those, or the
    /// other units, with as many replicas. The membership given, if it gets none already or there is no other
    /// unit.</summary>
    public static Membership Leave(Membership membership, NodeId unit, NodeAddress? spare, int replicas)
    {
        var chains = Active(membership);
        if (!chains.Any(chain => chain.Replicas.Any(r => r.Unit == unit))) return membership;
        if (spare is not { } replacement)
        {
            var rest = Units(chains).Remove(unit);
            return rest.IsEmpty ? membership : membership.WithNextChains(Ring(rest, replicas), []);
        }

        return membership.WithNextChains(
            [.. chains.Select(chain => chain.Replicas.Any(r => r.Unit == unit)
                ? new Chain([.. chain.Replicas.Where(r => r.Unit != unit), new Replica(replacement.Id)])
                : chain)],
            [replacement]);
    }

    /// <summary>A spare that came late: it takes its share of new entries, and joins the closed chains that units have
    /// left (TOCS 2.5, Fig. 5 C and D).</summary>
    public static Membership With(Membership membership, NodeAddress spare, int replicas) => membership
        .WithNextChains(Ring([.. Units(Active(membership)), spare.Id], replicas), [spare])
        .WithJoining(chain => chain.Replicas.Length < replicas ? spare.Id : null, [spare]);

    /// <summary>Whether entries have too few replicas. A trimmed segment is about to be migrated.</summary>
    public static bool IsShort(Projection projection, int replicas) => projection.Segments.Any(segment =>
        (segment.Until is not { } until || until > projection.TrimMark)
        && segment.Chains.Any(chain => chain.Replicas.Length < replicas));

    /// <summary>The chains that new entries will have. All their replicas are full.</summary>
    public static ImmutableArray<Chain> Active(Membership membership) =>
        membership.NextChains ?? membership.Segments[^1].Chains;

    /// <summary>As many chains as units, each with the next ones behind its head.</summary>
    public static ImmutableArray<Chain> Ring(ImmutableArray<NodeId> units, int replicas)
    {
        var length = Math.Min(replicas, units.Length);
        return
        [
            .. Enumerable.Range(0, units.Length).Select(head =>
                new Chain([.. Enumerable.Range(head, length).Select(i => new Replica(units[i % units.Length]))])),
        ];
    }

    /// <summary>Replicas of the shortest of these chains.</summary>
    public static int Shortest(ImmutableArray<Chain> chains) => chains.Min(chain => chain.FullCount);

    /// <summary>In the order in which the chains name them first.</summary>
    public static ImmutableArray<NodeId> Units(ImmutableArray<Chain> chains) =>
        [.. chains.SelectMany(chain => chain.Replicas).Select(replica => replica.Unit).Distinct()];
}
