using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.ModelCheck.Processes;

/// <summary>A reconfigurer's change for the next epoch. Start and epoch follow from the seals.</summary>
/// <param name="Segments">The ranges as they are; chains may lose replicas, or a joining one becomes full.</param>
/// <param name="NextChains">Chains of a new active segment; null keeps the active one open.</param>
public sealed record Change(NodeId Sequencer, ImmutableArray<Segment> Segments, ImmutableArray<Chain>? NextChains)
{
    /// <summary>Null when the unit has gone already, or a chain would have no unit left.</summary>
    public static Change? Remove(Projection current, NodeId unit)
    {
        if (!current.HasUnit(unit)) return null;
        var segments =
            current.Segments.Select(
                s =>
                    s with
                    { Chains = [.. s.Chains.Select(c => new Chain([.. c.Replicas.Where(r => r.Unit != unit)]))] })
                    .ToImmutableArray();
        return segments.Any(s => s.Chains.Any(c => c.FullCount == 0))
            ? null
            : new Change(current.Sequencer.Id, segments, null);
    }

    public static Change? Sequence(Projection current, NodeId sequencer) =>
        current.Sequencer.Id == sequencer ? null : new Change(sequencer, current.Segments, null);

    /// <summary>Gives everything from the new start on to other chains.</summary>
    public static Change? Open(Projection current, params Chain[] next) =>
        current.Active.Chains.AsSpan().SequenceEqual(next)
            ? null
            : new Change(current.Sequencer.Id, current.Segments, [.. next]);

    /// <summary>The joining unit has everything: it becomes full (R15).</summary>
    public static Change? Admit(Projection current, NodeId unit)
    {
        if (!IsJoining(current, unit)) return null;
        return new Change(
            current.Sequencer.Id,
            [.. current.Segments.Select(
                s =>
                    s with
                    { Chains =
                        [.. s.Chains.Select(
                            c => new Chain([.. c.Replicas.Select(r => r.Unit == unit ? new Replica(unit) : r)]))] })],
            null);
    }

    public static bool IsJoining(Projection projection, NodeId unit) =>
        projection.Segments.Any(s => s.Chains.Any(c => c.Replicas.Any(r => r.Unit == unit && r.Joining)));
}
