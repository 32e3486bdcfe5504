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
    /// <summary>The same as it is.</summary>
    public static Membership Of(Projection projection) =>
        new(projection.Sequencer, projection.Segments, null, projection.Units, projection.Acceptors);

    public Membership WithSequencer(NodeAddress sequencer) => this with { Sequencer = sequencer };

    /// <summary>R2: a unit that is dropped leaves every chain at once.</summary>
    /// <exception cref="ReconfigurationException">A chain would have no full replica left (R14).</exception>
    public Membership Without(NodeId unit) => this with
    {
        Segments = [.. Segments.Select(s => s with { Chains = Drop(s.Chains, unit) })],
        NextChains = NextChains is { } next ? Drop(next, unit) : null,
        Units = [.. Units.Where(u => u.Id != unit)],
    };

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

    private static ImmutableArray<Chain> Drop(ImmutableArray<Chain> chains, NodeId unit) => [.. chains.Select(c => Drop(c, unit))];

    private static Chain Drop(Chain chain, NodeId unit)
    {
        if (!chain.Replicas.Any(r => r.Unit == unit)) return chain;
        var rest = new Chain([.. chain.Replicas.Where(r => r.Unit != unit)]);
        return rest.FullCount > 0 ? rest : throw new ReconfigurationException($"Without unit {unit} a chain has no replica left: its entries would be lost (R14).");
    }
}
