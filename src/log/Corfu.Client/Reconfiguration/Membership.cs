namespace Corfu.Client;

/// <summary>Input of a reconfiguration; epoch, start and trim mark follow from the seals.</summary>
/// <param name="Segments">The current segments, their ranges unchanged. A chain may lose replicas and get joining ones
/// behind the full ones.</param>
/// <param name="NextChains">Chains of a new active segment from the new start on; null keeps the active segment
/// open.</param>
/// <param name="Units">Addresses of all units that the chains name.</param>
public sealed record Membership(NodeAddress Sequencer, ImmutableArray<Segment> Segments,
    ImmutableArray<Chain>? NextChains, ImmutableArray<NodeAddress> Units, ImmutableArray<NodeAddress> Acceptors)
{
    /// <summary>Least common multiples of two numbers of chains above this are refused: a projection holds the whole
    /// list while a segment is migrated.</summary>
    public const int MaxChains = 1024;

    /// <summary>Starts of closed segments in which every position is known to be decided on every replica that is full
    /// here. Only the end of a rebuild or a migration may say so: its joining replicas become full, and others
    /// may leave these chains alone.</summary>
    public ImmutableArray<LogPosition> Decided { get; init; } = [];

    /// <summary>Units that the operator, by name, asserts to be destroyed. Chains that have nothing else left go on
    /// with fresh units, and without the entries that only those units held.</summary>
    // R14's override.
    public ImmutableArray<NodeId> Destroyed { get; init; } = [];

    /// <summary>As <see cref="Projection.MirrorOf"/>.</summary>
    public ClusterId MirrorOf { get; init; }

    /// <summary>The projection's own.</summary>
    public static Membership Of(Projection projection) =>
        new(projection.Sequencer, projection.Segments, null, projection.Units, projection.Acceptors)
        {
            MirrorOf = projection.MirrorOf,
        };

    public Membership WithSequencer(NodeAddress sequencer) => this with { Sequencer = sequencer };

    /// <summary>None: an ordinary log, which a mirror becomes when it is promoted.</summary>
    public Membership WithMirrorOf(ClusterId source) => this with { MirrorOf = source };

    /// <summary>The same node at another endpoint.</summary>
    public Membership WithEndpoint(NodeAddress node) => this with
    {
        Sequencer = Sequencer.Id == node.Id ? node : Sequencer,
        Units = [.. Units.Select(u => u.Id == node.Id ? node : u)],
        Acceptors = [.. Acceptors.Select(a => a.Id == node.Id ? node : a)],
    };

    /// <summary>A unit that is dropped leaves every chain at once.</summary>
    /// <exception cref="ReconfigurationException">A chain would have no full replica left.</exception>
    public Membership Without(NodeId unit) => this with
    {
        Segments = [.. Segments.Select(s => s with { Chains = Drop(s.Chains, unit) })],
        NextChains = NextChains is { } next ? Drop(next, unit) : null,
        Units = [.. Units.Where(u => u.Id != unit)],
    };

    /// <summary>A spare takes a unit's place (TOCS 2.5, Fig. 5): from the new start on as a full replica of a new
    /// segment (B); in what is closed then, as a joining one, until it is rebuilt (C). The spare stands last in both,
    /// so that both have the same chains in the end and merge.</summary>
    /// <exception cref="ReconfigurationException">A chain would have no full replica left.</exception>
    public Membership WithReplaced(NodeId unit, NodeAddress spare)
    {
        var chains = NextChains ?? Segments[^1].Chains;
        var rest = Without(unit);
        var joining = new Replica(spare.Id, Joining: true);
        return rest with
        {
            Segments = [.. rest.Segments.Select(
                (s, i) => s with { Chains = Append(Segments[i].Chains, s.Chains, unit, joining) })],
            NextChains = chains.Any(c => Has(c, unit))
                ? Append(chains, Drop(chains, unit), unit, new Replica(spare.Id))
                : rest.NextChains,
            Units = [.. rest.Units, spare],
        };
    }

    /// <summary>The joining replicas of closed segments of which <paramref name="isRebuilt"/> says so become full (TOCS
    /// 2.5, Fig. 5 C): every position of the segment is decided on them.</summary>
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

    /// <summary>An operator's override. Chains with a survivor are as in <see cref="WithReplaced"/>. The others go on
    /// with the spares, full and empty: what only the lost units held is gone, and its positions become junk.</summary>
    /// <exception cref="ReconfigurationException">A chain without survivors would have no spare.</exception>
    // R14's override.
    public Membership WithDestroyed(ImmutableArray<(NodeId Unit, NodeAddress? Spare)> lost)
    {
        var chains = NextChains ?? Segments[^1].Chains;
        return this with
        {
            Destroyed = [.. Destroyed, .. lost.Select(l => l.Unit)],
            Segments = [.. Segments.Select(
                s => s with { Chains = [.. s.Chains.Select(c => ReplaceLost(c, lost, joining: true))] })],
            NextChains = [.. chains.Select(c => ReplaceLost(c, lost, joining: false))],
            Units =
            [
                .. Units.Where(u => !lost.Any(l => l.Unit == u.Id)),
                .. lost.Select(l => l.Spare).OfType<NodeAddress>(),
            ],
        };
    }

    /// <summary>Adds replicas to the chains of segments that are closed, or will be by <see cref="NextChains"/>, behind
    /// all others.</summary>
    /// <param name="joins">The unit to add to a chain; null: none.</param>
    public Membership WithJoining(Func<Chain, NodeId?> joins, IEnumerable<NodeAddress> newUnits) => this with
    {
        Segments = [.. Segments.Select(
            s => s.Until is null && NextChains is null
                ? s
                : s with { Chains = [.. s.Chains.Select(c => Join(c, joins(c)))] })],
        Units = Union(Units, newUnits),
    };

    /// <summary>Puts what follows on other chains, of units old or new.</summary>
    public Membership WithNextChains(ImmutableArray<Chain> chains, IEnumerable<NodeAddress> newUnits) =>
        this with { NextChains = chains, Units = Union(Units, newUnits) };

    /// <summary>The first half of a migration (TOCS 2.6): the units of the other chains join those of a closed segment,
    /// position by position. No entry moves to another chain.</summary>
    public Membership WithMigrating(LogPosition from, ImmutableArray<Chain> chains) => WithSegment(from, s => s with
    {
        Chains = [.. ChainLists.Pairs(s.Chains, chains).Select(
            pair => pair.New.Replicas.Aggregate(pair.Old, static (c, r) => Join(c, r.Unit)))],
    });

    /// <summary>The second half, when every position of the segment is decided on all of these chains: they take over,
    /// and the others leave.</summary>
    public Membership WithMigrated(LogPosition from, ImmutableArray<Chain> chains) =>
        WithSegment(from, s => s with { Chains = chains }) with { Decided = [.. Decided, from] };

    private Membership WithSegment(LogPosition from, Func<Segment, Segment> change) =>
        this with { Segments = [.. Segments.Select(s => s.From == from ? change(s) : s)] };

    private static bool Has(Chain chain, NodeId unit) => chain.Replicas.Any(r => r.Unit == unit);

    private static ImmutableArray<NodeAddress> Union(
        ImmutableArray<NodeAddress> units, IEnumerable<NodeAddress> newUnits) =>
        [.. units, .. newUnits.Where(u => !units.Any(known => known.Id == u.Id))];

    private static Chain Join(Chain chain, NodeId? unit) =>
        unit is not { } id || Has(chain, id) ? chain : new Chain([.. chain.Replicas, new Replica(id, Joining: true)]);

    private static Chain Promote(Chain chain, Func<NodeId, bool> isRebuilt)
    {
        var promoted = chain.Replicas.Select(r => r.Joining && isRebuilt(r.Unit) ? new Replica(r.Unit) : r);
        return new Chain([.. promoted.OrderBy(r => r.Joining)]);
    }

    // The chains that had the unit get the replica at their end.
    private static ImmutableArray<Chain> Append(
        ImmutableArray<Chain> had, ImmutableArray<Chain> rest, NodeId unit, Replica replica) =>
        [.. rest.Select((c, i) => Has(had[i], unit) ? new Chain([.. c.Replicas, replica]) : c)];

    private static ImmutableArray<Chain> Drop(ImmutableArray<Chain> chains, NodeId unit) =>
        [.. chains.Select(c => Drop(c, unit))];

    private static Chain Drop(Chain chain, NodeId unit)
    {
        if (!Has(chain, unit)) return chain;
        var rest = new Chain([.. chain.Replicas.Where(r => r.Unit != unit)]);
        return rest.FullCount > 0
            ? rest
            : throw new ReconfigurationException(
                $"Without unit {unit} a chain has no replica left: its entries would be lost (R14).");
    }

    private static Chain ReplaceLost(Chain chain, ImmutableArray<(NodeId Unit, NodeAddress? Spare)> lost, bool joining)
    {
        var rest = chain.Replicas.Where(r => !lost.Any(l => l.Unit == r.Unit)).ToList();
        if (rest.Count == chain.Replicas.Length) return chain;
        var spares = lost.Where(l => Has(chain, l.Unit)).Select(l => l.Spare).OfType<NodeAddress>();

        // Without a survivor, a replica that was being rebuilt has at least a part of what is lost.
        var survives = rest.Exists(r => !r.Joining);
        var replaced = new Chain(
        [
            .. rest.Select(r => survives ? r : new Replica(r.Unit)),
            .. spares.Select(s => new Replica(s.Id, joining && survives)),
        ]);
        return replaced.FullCount > 0
            ? replaced
            : throw new ReconfigurationException("A chain that is lost as a whole needs a spare to go on with (R14).");
    }
}
