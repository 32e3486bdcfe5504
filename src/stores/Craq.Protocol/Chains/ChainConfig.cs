namespace Craq;

/// <summary>The members of a chain in one epoch, as the directory has recorded them. Immutable; a change is another
/// epoch. Learners are no members and stand nowhere in it.</summary>
/// <param name="Members">The full members, from the head to the tail.</param>
/// <param name="Base">The counting members of the last epoch that was recorded open, as that epoch counted
/// them.</param>
/// <param name="Kept">Invariant: at least as many members of <paramref name="Base"/> are members in every epoch until
/// the next one is recorded open.</param>
public sealed record ChainConfig(ChainId Id, string Name, Epoch Epoch, ImmutableArray<ChainMember> Members,
    ImmutableArray<ChainMember> Base, int Kept, Placement Placement, ChainOptions Options)
{
    /// <summary>Members of one chain.</summary>
    public const int MaxMembers = 64;

    /// <summary>Bytes of a chain's name, or a datacenter's.</summary>
    public const int MaxName = 128;

    public ChainMember Head => Members[0];

    public ChainMember Tail => Members[^1];

    /// <summary>The epoch itself is recorded open.</summary>
    public bool IsRecordedOpen { get; init; }

    /// <summary>No epoch of the chain has been recorded open yet, so its members are of the first epoch.</summary>
    public bool IsUnopened { get; init; }

    /// <summary>The member that was promoted since the last epoch that was recorded open; none: there is no such
    /// member.</summary>
    public NodeId Newcomer { get; init; }

    /// <summary>The least counting members that the chain may be cut down to once this epoch is recorded
    /// open.</summary>
    public int Minimum
    {
        get
        {
            var counting = Members.Count(member => Counts(member));
            var size = Placement.CountedSize == 0 ? counting : Placement.CountedSize;
            var wish = Placement.MinMembers > 0 ? Placement.MinMembers : size < 3 ? 1 : (size / 2) + 1;
            return Math.Max(1, Math.Min(wish, counting));
        }
    }

    /// <summary>-1: no full member.</summary>
    public int IndexOf(NodeId node)
    {
        for (var i = 0; i < Members.Length; i++)
        {
            if (Members[i].Node == node) return i;
        }

        return -1;
    }

    /// <summary>Whether a member counts for the least number of members.</summary>
    public bool Counts(in ChainMember member) =>
        Placement.Master is not { } master || member.Datacenter == master;

    public override string ToString() =>
        $"{Name} {Epoch} {string.Join(" -> ", Members.Select(member => member.Node.Value.ToString("N")[..8]))}";
}

/// <summary>A place in a chain.</summary>
public readonly record struct ChainMember(NodeId Node, string Datacenter);

/// <summary>A config as it travels: with the endpoints of its members as its sender knows them.</summary>
public sealed record ChainView(ChainConfig Config, ImmutableArray<NodeEndpoint> Endpoints)
{
    public NodeAddress Address(int member) => new(Config.Members[member].Node, Endpoints[member]);

    /// <summary>Null: no full member.</summary>
    public NodeAddress? Find(NodeId node)
    {
        var index = Config.IndexOf(node);
        return index < 0 ? null : Address(index);
    }
}
