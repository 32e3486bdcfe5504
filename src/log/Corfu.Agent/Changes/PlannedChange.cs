namespace Corfu.Agent;

/// <summary>A change that an agent wants, in one epoch. Applied a second time it changes nothing.</summary>
internal sealed record PlannedChange(ImmutableArray<UnitExit> Exits, NodeId OldSequencer, NodeAddress? NewSequencer,
    int Replicas, string Why)
{
    /// <summary>At most one acceptor changes at a time, so that the acceptors that remain are a majority of both
    /// sets.</summary>
    public AcceptorChange? Acceptor { get; init; }

    /// <summary>A spare for chains that have become too short, since units have left without one.</summary>
    public NodeAddress? Joins { get; init; }

    /// <summary>Whether the other plan concerns the same nodes.</summary>
    public bool IsSame(PlannedChange? other) =>
        other is not null && Exits.AsSpan().SequenceEqual(other.Exits.AsSpan())
        && (OldSequencer, NewSequencer) == (other.OldSequencer, other.NewSequencer)
        && (Joins, Acceptor) == (other.Joins, other.Acceptor);

    /// <summary>The nodes whose verdicts the change rests on.</summary>
    public IEnumerable<NamedNode> Suspects(Projection projection)
    {
        if (NewSequencer is not null) yield return new NamedNode(projection.Sequencer, NodeRole.Sequencer);
        if (Acceptor is { } acceptor) yield return new NamedNode(acceptor.Old, NodeRole.Acceptor);
        foreach (var exit in Exits) yield return new NamedNode(exit.Unit, NodeRole.Unit);
    }

    public bool IsEmpty => Exits.IsEmpty && NewSequencer is null && Acceptor is null && Joins is null;

    /// <exception cref="ReconfigurationException">A chain would have no full replica left (R14).</exception>
    public Membership? Apply(Projection projection)
    {
        var before = Membership.Of(projection);
        var after = before;
        if (NewSequencer is { } sequencer && projection.Sequencer.Id == OldSequencer)
            after = after.WithSequencer(sequencer);
        if (Acceptor is { } change && !after.Acceptors.Contains(change.New)
            && after.Acceptors.IndexOf(change.Old) is >= 0 and var at)
            after = after with { Acceptors = after.Acceptors.SetItem(at, change.New) };
        after = ActivePlacement.Without(after, projection, Exits, Replicas);
        if (Joins is { } joins && !projection.HasUnit(joins.Id) && ActivePlacement.IsShort(projection, Replicas))
            after = ActivePlacement.With(after, joins, Replicas);
        return ReferenceEquals(before, after) ? null : after;
    }

    public override string ToString()
    {
        List<string> parts = [Why];
        if (NewSequencer is { } sequencer) parts.Add($"{sequencer.Endpoint} takes over");
        foreach (var exit in Exits)
        {
            var spare = exit.Spare is { } one ? $", {one.Endpoint} takes its place" : "";
            parts.Add($"{exit.Unit.Endpoint} {(exit.Keeps ? "gets nothing new" : "is out")}{spare}");
        }

        if (Joins is { } joins) parts.Add($"{joins.Endpoint} joins");
        if (Acceptor is { } acceptor) parts.Add($"{acceptor.New.Endpoint} decides instead of {acceptor.Old.Endpoint}");
        return string.Join("; ", parts);
    }
}

/// <summary>A unit that gets no new entries any more.</summary>
/// <param name="Spare">Takes its place in the chains of new entries; null: there is none.</param>
/// <param name="Keeps">True: the unit keeps its entries, for reads. False: it leaves every chain at once (R2).</param>
internal sealed record UnitExit(NodeAddress Unit, NodeAddress? Spare, bool Keeps);

/// <summary>An acceptor of the layout gives its place to another.</summary>
internal readonly record struct AcceptorChange(NodeAddress Old, NodeAddress New);
