using System.Collections.Immutable;
using Corfu.ModelCheck.Nodes;
using Corfu.Protocol;

namespace Corfu.ModelCheck.Processes;

public static class Projections
{
    public static Projection Make(Epoch epoch, NodeId sequencer, long start, ImmutableArray<NodeAddress> acceptors,
        ImmutableArray<Segment> segments) => new(
        Names.Cluster, epoch, Names.At(sequencer), new LogPosition(start, epoch), LogPosition.Zero, segments,
        [.. segments.SelectMany(s => s.Chains).SelectMany(c => c.Replicas).Select(r => r.Unit).Distinct().Order()
            .Select(Names.At)], acceptors, "model");

    public static Chain Chain(params int[] units) => new([.. units.Select(u => new Replica(Names.Unit(u)))]);
}
