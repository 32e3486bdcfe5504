using System.Collections.Immutable;
using Corfu.Protocol;
using Craq;
using Craq.Coordination;

namespace Corfu.ModelCheck.Chains;

/// <summary>A chain over three nodes with something going on.</summary>
/// <param name="Writes">Writes of one object, one after the other, each repeated until it is acknowledged.</param>
/// <param name="Reads">Strong reads, one after the other, at any nodes.</param>
/// <param name="Changes">In this order, whenever the directory's rules allow them.</param>
/// <param name="Losses">Requests or answers that may be lost.</param>
/// <param name="Restarts">Nodes that may be killed and started again.</param>
internal sealed record ChainScenario(string Name, string About, int Writes, int Reads,
    ImmutableArray<ChainChange> Changes, int Losses = 0, int Restarts = 0)
{
    public static ImmutableArray<ChainScenario> All { get; } =
    [
        new("craq-remove", "a write and a read while the tail is removed and lives on", 1, 1, [Remove(2)]),
        new("craq-two-changes", "a write and a read while the tail is removed, then the epoch is renewed", 1, 1,
            [Remove(2), new ChainChange.Renew()]),
        new("craq-front", "a write and a read while the tail becomes the head", 1, 1, [Order(2, 0, 1)]),
        new("craq-reads", "two writes and two reads, a member is restarted", 2, 2, [], 0, 1),
    ];

    public static NodeId Node(int index) => new(new Guid(index + 1, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0]));

    private static ChainChange Remove(int index) => new ChainChange.Remove([Node(index)]);

    private static ChainChange Order(params ReadOnlySpan<int> order)
    {
        var nodes = ImmutableArray.CreateBuilder<NodeId>();
        foreach (var index in order) nodes.Add(Node(index));
        return new ChainChange.Reorder(nodes.ToImmutable());
    }
}
