using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Layout.Tests;

internal static class Setup
{
    public static readonly ClusterId Cluster = new(new Guid("c0000000-0000-0000-0000-000000000001"));

    public static NodeAddress Acceptor(int index) =>
        new(new NodeId(new Guid(index + 1, 0, 0, new byte[8])), new NodeEndpoint("acceptor", index + 1));

    public static ImmutableArray<NodeAddress> Acceptors(params int[] indexes) => [.. indexes.Select(Acceptor)];

    public static Projection Projection(long epoch, string reason = "test", params int[] acceptors) =>
        Of(Cluster, epoch, reason, acceptors);

    public static Projection Of(ClusterId cluster, long epoch, string reason = "test", params int[] acceptors)
    {
        var unit = new NodeAddress(new NodeId(new Guid("a0000000-0000-0000-0000-000000000001")),
            new NodeEndpoint("u", 1));
        return new Projection(
            cluster,
            new Epoch(epoch),
            new NodeAddress(new NodeId(new Guid("5e900000-0000-0000-0000-000000000001")), new NodeEndpoint("s", 1)),
            LogPosition.Zero,
            LogPosition.Zero,
            [new Segment(LogPosition.Zero, null, [new Chain([new Replica(unit.Id)])])],
            [unit],
            Acceptors(acceptors.Length == 0 ? [0, 1, 2] : acceptors),
            reason);
    }

    public static Ballot Ballot(long round, byte proposer = 1) =>
        new(round, new Guid(0, 0, 0, [0, 0, 0, 0, 0, 0, 0, proposer]));
}
