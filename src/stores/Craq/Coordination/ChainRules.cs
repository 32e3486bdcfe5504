namespace Craq.Coordination;

/// <summary>When a chain's config may change. Pure: every replica of the directory decides alike.</summary>
/// <remarks>
/// A change makes one epoch, whatever it is. Promotions, reorders and options need a config that is recorded open, so
/// that between two such configs there are removals alone; each of them keeps <see cref="ChainConfig.Kept"/> members of
/// the base. So every later epoch that opens has members in common with this one (C8), see <see
/// cref="EpochWitnesses"/>.
/// </remarks>
internal static class ChainRules
{
    private const string NotOpen =
        "the newest epoch is not recorded open yet: wait until its members have installed it, or remove those that "
        + "are gone";

    /// <summary>A new chain. All its members are full, with nothing in it.</summary>
    /// <param name="members">The placement's wish, from nodes with leases.</param>
    public static (ChainState? State, string? Refusal) Create(ChainId id, string name, Placement placement,
        ChainOptions options, ImmutableArray<ChainMember> members)
    {
        if (PlacementRules.Fault(placement) is { } fault) return (null, fault);
        var config = new ChainConfig(id, name, Epoch.First, members, [], 0, placement, options) { IsUnopened = true };
        var counting = Counting(config).Length;
        var size = placement.CountedSize;
        var least = placement.MinMembers > 0 ? placement.MinMembers : size < 3 ? 1 : (size / 2) + 1;
        if (counting < least)
            return (null, $"the placement needs {least} nodes that count, and {counting} of those registered fit: "
                + "start more nodes, or ask for fewer replicas");
        return (new ChainState(Based(config), options.Reads == EpochProof.Leased, []), null);
    }

    /// <summary>The epoch is open: its members are the base of what follows.</summary>
    public static ChainState Opened(ChainState state) => state with
    {
        Config = Based(state.Config) with { IsRecordedOpen = true, IsUnopened = false, Newcomer = NodeId.None },
        MayBeLeased = state.Config.Options.Reads == EpochProof.Leased,
    };

    /// <summary>The member serves no reads by lease in this epoch, and may be removed before its lease ends.</summary>
    public static ChainState Release(ChainState state, NodeId node) =>
        state.Config.IndexOf(node) < 0 || state.Released.Contains(node)
            ? state
            : state with { Released = state.Released.Add(node) };

    /// <summary>Whether the chain could go on without the member, were its lease at its end.</summary>
    public static bool MayLose(ChainConfig config, NodeId node) =>
        config.Members.Length > 1 && config.Base.Count(before =>
            before.Node != node && config.IndexOf(before.Node) >= 0) >= config.Kept;

    /// <param name="expected">The epoch that the proposer has seen: the change is for this one and no other.</param>
    public static ChainRuling Change(ChainState state, Epoch expected, ChainChange change,
        ImmutableSortedDictionary<NodeId, DirectoryNode> nodes)
    {
        if (expected != state.Config.Epoch)
            return new(state, $"the chain is at {state.Config.Epoch}, not at {expected}: look at it again");
        if (state.Config.Epoch.Value >= ObjectVersion.MaxEpoch)
            return new(state, "the chain has no epochs left: copy its objects to a new chain");
        return change switch
        {
            ChainChange.Remove remove => Remove(state, remove, nodes),
            ChainChange.Promote promote => Promote(state, promote, nodes),
            ChainChange.Reorder reorder => Reorder(state, reorder),
            ChainChange.SetOptions set => SetOptions(state, set),
            ChainChange.Renew => OnOpen(state, state.Config),
            _ => new(state, "the kind of change is unknown: update this node"),
        };
    }

    private static ChainRuling Remove(ChainState state, ChainChange.Remove change,
        ImmutableSortedDictionary<NodeId, DirectoryNode> nodes)
    {
        var config = state.Config;
        if (change.Nodes.IsDefaultOrEmpty) return new(state, "no member is named");
        foreach (var node in change.Nodes)
        {
            if (config.IndexOf(node) < 0) return new(state, $"{node} is no member");
            var isGone = !nodes.TryGetValue(node, out var known) || known.State == DirectoryNodeState.Gone;
            if (!isGone && !state.IsFree(node))
                return new(state, $"{node} may serve reads by its lease: wait until the lease has ended");
            if (!isGone && change.Destroyed)
                return new(state, $"{node} has a lease, so it is not destroyed: stop it first");
        }

        var left = config.Members.RemoveAll(member => change.Nodes.Contains(member.Node));
        if (left.IsEmpty) return new(state, "no member would be left: drop the chain instead");
        config = config with { Newcomer = change.Nodes.Contains(config.Newcomer) ? NodeId.None : config.Newcomer };
        var kept = config.Base.RemoveAll(before => left.All(member => member.Node != before.Node));
        var least = Planted.Is("counts-by-the-old-minimum") ? config.Minimum : config.Kept;
        if (kept.Length >= least) return Next(state, config with { Members = left });
        if (!change.Destroyed && !Planted.Is("empty-chain-reborn"))
            return new(state, $"{kept.Length} members of the last open epoch would be left, and it takes {least}: "
                + "bring back a member, or name those that are destroyed for ever");
        return Rebase(state, config with { Members = left }, kept);
    }

    // An operator's word that the destroyed members never return (C20), so they confirm nothing. Members that were
    // removed before are too few to prove an older epoch: each removal kept Kept members of the base (C8).
    private static ChainRuling Rebase(ChainState state, ChainConfig config, ImmutableArray<ChainMember> kept)
    {
        if (kept.IsEmpty) kept = Counting(config);
        if (kept.IsEmpty)
            return new(state, "no member that counts would be left: change the placement's master first");
        return Next(state, config with { Base = kept, Kept = Math.Min(config.Kept, kept.Length) });
    }

    private static ChainRuling Promote(ChainState state, ChainChange.Promote change,
        ImmutableSortedDictionary<NodeId, DirectoryNode> nodes)
    {
        var config = state.Config;
        if (config.IndexOf(change.Node) >= 0) return new(state, $"{change.Node} is a member already");
        if (!nodes.TryGetValue(change.Node, out var node) || node.State == DirectoryNodeState.Gone)
            return new(state, $"{change.Node} has no lease");
        if (node.State == DirectoryNodeState.Draining) return new(state, $"{change.Node} is being drained");
        if (change.Index < 0 || change.Index > config.Members.Length)
            return new(state, $"the chain has no place {change.Index}");
        if (config.Members.Length >= ChainConfig.MaxMembers)
            return new(state, $"the chain has {ChainConfig.MaxMembers} members, the most that one may have");
        var members = config.Members.Insert(change.Index, new ChainMember(node.Id, node.Datacenter));
        return OnOpen(state, config with { Members = members, Newcomer = node.Id });
    }

    private static ChainRuling Reorder(ChainState state, ChainChange.Reorder change)
    {
        var config = state.Config;
        if (change.Nodes.IsDefault || change.Nodes.Length != config.Members.Length
            || change.Nodes.Distinct().Count() != change.Nodes.Length
            || change.Nodes.Any(node => config.IndexOf(node) < 0))
            return new(state, "a reorder names each member once");
        var members = change.Nodes.Select(node => config.Members[config.IndexOf(node)]).ToImmutableArray();
        return OnOpen(state, config with { Members = members });
    }

    private static ChainRuling SetOptions(ChainState state, ChainChange.SetOptions change)
    {
        if (PlacementRules.Fault(change.Placement) is { } fault) return new(state, fault);
        var config = state.Config with { Placement = change.Placement, Options = change.Options };
        return Counting(config).IsEmpty
            ? new(state, $"no member is in {change.Placement.Master}: let the chain grow there first")
            : OnOpen(state, config);
    }

    private static ChainRuling OnOpen(ChainState state, ChainConfig config) =>
        state.Config.IsRecordedOpen || Planted.Is("promotes-before-open")
            ? Next(state, config)
            : new(state, NotOpen);

    private static ChainRuling Next(ChainState state, ChainConfig config) => ChainRuling.Of(new ChainState(
        config with { Epoch = state.Config.Epoch.Next, IsRecordedOpen = false },
        state.MayBeLeased || config.Options.Reads == EpochProof.Leased, []));

    private static ChainConfig Based(ChainConfig config) =>
        config with { Base = Counting(config), Kept = config.Minimum };

    private static ImmutableArray<ChainMember> Counting(ChainConfig config) =>
        config.Members.RemoveAll(member => !config.Counts(member));
}
