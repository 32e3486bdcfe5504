using Craq.Coordination;

namespace Craq.Tests.Coordination;

/// <summary>Nodes 1, 2, ... and chains of them.</summary>
internal static class Samples
{
    public static readonly ChainId Known = ChainId.FromName("chain");

    public static NodeId Id(int number) => new(new Guid(number, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0]));

    public static DirectoryNode Node(
        int number, string datacenter = "east", DirectoryNodeState state = DirectoryNodeState.Active) =>
        new(Id(number), datacenter, new NodeEndpoint("127.0.0.1", 4000 + number), state);

    public static ImmutableSortedDictionary<NodeId, DirectoryNode> Nodes(params ReadOnlySpan<DirectoryNode> nodes)
    {
        var all = ImmutableSortedDictionary.CreateBuilder<NodeId, DirectoryNode>();
        foreach (var node in nodes) all.Add(node.Id, node);
        return all.ToImmutable();
    }

    /// <summary>Nodes 1 to that count, all active.</summary>
    public static ImmutableSortedDictionary<NodeId, DirectoryNode> Active(int count, string datacenter = "east") =>
        Enumerable.Range(1, count).Select(number => Node(number, datacenter))
            .ToImmutableSortedDictionary(node => node.Id, node => node);

    /// <summary>A chain that is recorded open.</summary>
    public static ChainState Open(Placement placement, ChainOptions options, params ReadOnlySpan<DirectoryNode> nodes)
    {
        var members = ImmutableArray.CreateBuilder<ChainMember>();
        foreach (var node in nodes) members.Add(new ChainMember(node.Id, node.Datacenter));
        var (state, refusal) = ChainRules.Create(Known, "chain", placement, options, members.ToImmutable());
        Assert.Null(refusal);
        return ChainRules.Opened(state!);
    }

    public static ChainState Open(int members) => Open(members, members);

    public static ChainState Open(int members, int size) => Open(
        Placement.Implicit(1, size), ChainOptions.Default, [.. Active(members).Values]);

    public static ChainState Must(this ChainState state, ChainChange change,
        ImmutableSortedDictionary<NodeId, DirectoryNode>? nodes = null)
    {
        var ruling = ChainRules.Change(state, state.Config.Epoch, change, nodes ?? Active(9));
        Assert.Null(ruling.Refusal);
        return ruling.State;
    }

    public static string MustNot(this ChainState state, ChainChange change,
        ImmutableSortedDictionary<NodeId, DirectoryNode>? nodes = null)
    {
        var ruling = ChainRules.Change(state, state.Config.Epoch, change, nodes ?? Active(9));
        Assert.NotNull(ruling.Refusal);
        Assert.Same(state, ruling.State);
        return ruling.Refusal;
    }

    public static ChainChange Remove(params ReadOnlySpan<int> numbers) => new ChainChange.Remove(Ids(numbers));

    public static ChainChange Destroyed(params ReadOnlySpan<int> numbers) =>
        new ChainChange.Remove(Ids(numbers), Destroyed: true);

    public static ChainChange Promote(int number, int index) => new ChainChange.Promote(Id(number), index);

    public static ImmutableArray<NodeId> Ids(params ReadOnlySpan<int> numbers)
    {
        var ids = ImmutableArray.CreateBuilder<NodeId>();
        foreach (var number in numbers) ids.Add(Id(number));
        return ids.ToImmutable();
    }

    public static IEnumerable<NodeId> Members(this ChainState state) =>
        state.Config.Members.Select(member => member.Node);
}
