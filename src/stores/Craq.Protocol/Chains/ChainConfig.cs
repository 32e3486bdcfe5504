namespace Craq;

/// <summary>The members of a chain in one epoch, as the directory has recorded them. Immutable; a change is another
/// epoch. Learners are no members and stand nowhere in it.</summary>
/// <param name="Members">The full members, from the head to the tail.</param>
/// <param name="Base">The full members of the last epoch that was recorded open: every one of them holds all that was
/// committed by then.</param>
/// <param name="MostMinimum">The greatest least number of counting members since <paramref name="Base"/> was recorded.
/// Invariant: that many counting members of the base are members (C8).</param>
public sealed record ChainConfig(ChainId Id, string Name, Epoch Epoch, ImmutableArray<ChainMember> Members,
    ImmutableArray<ChainMember> Base, int MostMinimum, Placement Placement, ChainOptions Options)
{
    /// <summary>Members of one chain.</summary>
    public const int MaxMembers = 64;

    /// <summary>Bytes of a chain's name, or a datacenter's.</summary>
    public const int MaxName = 128;

    public ChainMember Head => Members[0];

    public ChainMember Tail => Members[^1];

    /// <summary>The epoch itself is recorded open.</summary>
    public bool IsRecordedOpen { get; init; }

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
