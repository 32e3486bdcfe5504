using Craq.Coordination;

namespace Craq.Reads;

/// <summary>The members that a member asks in one epoch, and what is enough. Sets of members are bits by place in the
/// chain.</summary>
/// <param name="Members">By place in the chain.</param>
/// <param name="Tail">The tail; none: the asking member is the tail.</param>
/// <param name="Nearest">Places of the others: those of the own datacenter first. Each member begins behind itself, so
/// that the questions of all spread over the chain.</param>
internal sealed record RoundPlan(ImmutableArray<NodeId> Members, NodeId Tail, EpochWitnesses Witnesses,
    ImmutableArray<int> Nearest)
{
    /// <summary>All but the asking member.</summary>
    public ulong Others { get; private init; }

    /// <summary>Empty: the asking member is the tail.</summary>
    public ulong TailBit => Tail.IsNone ? 0 : 1UL << (Members.Length - 1);

    public static RoundPlan For(ChainConfig config, NodeId self)
    {
        var (own, members) = (config.IndexOf(self), config.Members);
        ImmutableArray<int> nearest =
        [
            .. Enumerable.Range(1, members.Length - 1).Select(step => (own + step) % members.Length)
                .OrderByDescending(place => members[place].Datacenter == members[own].Datacenter),
        ];
        return new RoundPlan([.. members.Select(member => member.Node)],
            config.Tail.Node == self ? NodeId.None : config.Tail.Node, EpochWitnesses.Of(config, self), nearest)
        {
            Others = nearest.Aggregate(0UL, static (bits, place) => bits | (1UL << place)),
        };
    }

    /// <summary>Members that have said that they are exactly at the epoch prove that none behind it had opened
    /// (C6).</summary>
    public bool AreEnough(ulong exact) => Witnesses.AreEnough(exact)
        || (Planted.Is("stale-tail") && (exact & TailBit) == TailBit)
        || (Planted.Is("tail-believes-itself") && Tail.IsNone);

    /// <summary>Members whose answers suffice, and few of them.</summary>
    /// <param name="silent">Members that are not counted on. Without enough others, all are asked.</param>
    public ulong Fewest(bool withProof, bool withTail, ulong silent)
    {
        var asked = withTail || Planted.Is("stale-tail") ? TailBit : 0;
        if (!withProof) return asked;
        foreach (var place in Nearest)
        {
            if (AreEnough(asked & ~silent)) return asked;
            var bit = 1UL << place;
            if ((silent & bit) == 0 && Witnesses.Has(bit)) asked |= bit;
        }

        return AreEnough(asked & ~silent) ? asked : Others;
    }
}
