using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>
/// Who serves what, as input of a reconfiguration; epoch, start and trim mark follow from the seals.
/// </summary>
/// <param name="Segments">
/// The current segments, their ranges unchanged. A chain may lose replicas and get joining ones behind the full ones (R13, R15).
/// </param>
/// <param name="NextChains">Chains of a new active segment from the new start on; null keeps the active segment open.</param>
/// <param name="Units">Addresses of all units that the chains name.</param>
public sealed record Membership(
    NodeAddress Sequencer,
    ImmutableArray<Segment> Segments,
    ImmutableArray<Chain>? NextChains,
    ImmutableArray<NodeAddress> Units,
    ImmutableArray<NodeAddress> Acceptors)
{
    /// <summary>
    /// Starts of closed segments in which every position is known to be decided on every replica that is full here (R15). Only the end of a
    /// rebuild or a migration may say so: its joining replicas become full, and others may leave these chains alone.
    /// </summary>
    public ImmutableArray<LogPosition> Decided { get; init; } = [];

    /// <summary>
    /// R14's override: units that the operator, by name, asserts to be destroyed. Chains of which nothing else is left go on with fresh
    /// units, and without the entries that only those units held.
    /// </summary>
    public ImmutableArray<NodeId> Destroyed { get; init; } = [];

    /// <summary>As <see cref="Projection.MirrorOf"/>.</summary>
    public ClusterId MirrorOf { get; init; }

    /// <summary>The same as it is.</summary>
    public static Membership Of(Projection projection) =>
        new(projection.Sequencer, projection.Segments, null, projection.Units, projection.Acceptors) { MirrorOf = projection.MirrorOf };

    public Membership WithSequencer(NodeAddress sequencer) => this with { Sequencer = sequencer };

    /// <summary>R2: a unit that is dropped leaves every chain at once.</summary>
    /// <exception cref="ReconfigurationException">A chain would have no full replica left (R14).</exception>
    public Membership Without(NodeId unit) => this with
    {
        Segments = [.. Segments.Select(s => s with { Chains = Drop(s.Chains, unit) })],
        NextChains = NextChains is { } next ? Drop(next, unit) : null,
        Units = [.. Units.Where(u => u.Id != unit)],
    };

    /// <summary>
    /// A spare takes a unit's place (TOCS 2.5, Fig. 5): from the new start on as a full replica of a new segment (B); in what is closed
    /// then, as a joining one, until it is rebuilt (C). It stands last in both, so that both have the same chains in the end and merge.
    /// </summary>
    /// <exception cref="ReconfigurationException">A chain would have no full replica left (R14).</exception>
    public Membership WithReplaced(NodeId unit, NodeAddress spare)
    {
        var chains = NextChains ?? Segments[^1].Chains;
        var inActive = chains.Any(c => c.Replicas.Any(r => r.Unit == unit));
        var rest = Without(unit);
        return rest with
        {
            Segments = [.. rest.Segments.Select((s, i) => s with { Chains = Append(Segments[i].Chains, s.Chains, unit, new Replica(spare.Id, Joining: true)) })],
            NextChains = inActive ? Append(chains, Drop(chains, unit), unit, new Replica(spare.Id)) : rest.NextChains,
            Units = [.. rest.Units, spare],
        };
    }

    /// <summary>
    /// The joining replicas of closed segments of which <paramref name="isRebuilt"/> says so become full (TOCS 2.5, Fig. 5 C; R15): every
    /// position of the segment is decided on them.
    /// </summary>
    public Membership WithRebuilt(Func<Segment, NodeId, bool> isRebuilt)
    {
        var decided = Decided.ToBuilder();
        var segments = ImmutableArray.CreateBuilder<Segment>(Segments.Length);
        foreach (var segment in Segments)
        {
            var chains = segment.Until is null
                ? segment.Chains
                : [.. segment.Chains.Select(c => Promote(c, unit => isRebuilt(segment, unit)))];
            if (!chains.AsSpan().SequenceEqual(segment.Chains.AsSpan())) decided.Add(segment.From);
            segments.Add(segment with { Chains = chains });
        }

        return this with { Segments = segments.DrainToImmutable(), Decided = decided.DrainToImmutable() };
    }

    /// <summary>Puts what follows on other chains, of units old or new.</summary>
    public Membership WithNextChains(ImmutableArray<Chain> chains, IEnumerable<NodeAddress> newUnits) => this with
    {
        NextChains = chains,
        Units = [.. Units, .. newUnits.Where(u => !Units.Any(known => known.Id == u.Id))],
    };

    /// <summary>The same node at another endpoint.</summary>
    public Membership WithEndpoint(NodeAddress node) => this with
    {
        Sequencer = Sequencer.Id == node.Id ? node : Sequencer,
        Units = [.. Units.Select(u => u.Id == node.Id ? node : u)],
        Acceptors = [.. Acceptors.Select(a => a.Id == node.Id ? node : a)],
    };

    private static Chain Promote(Chain chain, Func<NodeId, bool> isRebuilt)
    {
        var promoted = chain.Replicas.Select(r => r.Joining && isRebuilt(r.Unit) ? new Replica(r.Unit) : r);
        return new Chain([.. promoted.OrderBy(r => r.Joining)]);
    }

    // The chains that had the unit get the replica at their end.
    private static ImmutableArray<Chain> Append(ImmutableArray<Chain> had, ImmutableArray<Chain> rest, NodeId unit, Replica replica) =>
        [.. rest.Select((c, i) => had[i].Replicas.Any(r => r.Unit == unit) ? new Chain([.. c.Replicas, replica]) : c)];

    /// <summary>None: an ordinary log, which a mirror becomes when it is promoted.</summary>
    public Membership WithMirrorOf(ClusterId source) => this with { MirrorOf = source };

    private static ImmutableArray<Chain> Drop(ImmutableArray<Chain> chains, NodeId unit) => [.. chains.Select(c => Drop(c, unit))];

    private static Chain Drop(Chain chain, NodeId unit)
    {
        if (!chain.Replicas.Any(r => r.Unit == unit)) return chain;
        var rest = new Chain([.. chain.Replicas.Where(r => r.Unit != unit)]);
        return rest.FullCount > 0 ? rest : throw new ReconfigurationException($"Without unit {unit} a chain has no replica left: its entries would be lost (R14).");
    }
}
