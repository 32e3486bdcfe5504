using System.Numerics;

namespace Craq.Coordination;

/// <summary>The members whose confirmations prove to one node that no epoch behind its own has opened. Sets of members
/// are bits by place in the chain.</summary>
/// <remarks>
/// The epoch behind this one is the first that opens, so all its members have installed it and confirm the older one no
/// more. While this epoch is not recorded open, that epoch keeps <see cref="ChainConfig.Kept"/> of the base; afterwards
/// it keeps <see cref="ChainConfig.Minimum"/> of this epoch's counting members (C8). A node does not know which of the
/// two holds: one confirmation of each set must be more than the others can be (C6).
/// </remarks>
internal readonly struct EpochWitnesses
{
    private readonly ulong _base;
    private readonly ulong _counting;
    private readonly int _ofBase;
    private readonly int _ofCounting;

    private EpochWitnesses(ulong baseMembers, int ofBase, ulong counting, int ofCounting) =>
        (_base, _ofBase, _counting, _ofCounting) = (baseMembers, ofBase, counting, ofCounting);

    /// <param name="self">A member of the chain, which is at this epoch itself.</param>
    public static EpochWitnesses Of(ChainConfig config, NodeId self)
    {
        var (baseMembers, counting) = (0UL, 0UL);
        for (var i = 0; i < config.Members.Length; i++)
        {
            var member = config.Members[i];
            if (member.Node == self) continue;
            if (config.Counts(member)) counting |= 1UL << i;
            if (config.Base.Any(before => before.Node == member.Node)) baseMembers |= 1UL << i;
        }

        return new EpochWitnesses(baseMembers, BitOperations.PopCount(baseMembers) - config.Kept + 1,
            counting, BitOperations.PopCount(counting) - config.Minimum + 1);
    }

    /// <summary>Whether one of these members is a witness.</summary>
    public bool Has(ulong members) => (members & (_base | _counting)) != 0;

    /// <summary>Whether these members are enough, each of which has said that it is exactly at the epoch. An empty
    /// set is enough where no change can go on without the node.</summary>
    public bool AreEnough(ulong exact) =>
        BitOperations.PopCount(exact & _base) >= _ofBase && BitOperations.PopCount(exact & _counting) >= _ofCounting;
}
