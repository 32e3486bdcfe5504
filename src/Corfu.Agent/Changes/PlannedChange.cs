using System.Collections.Immutable;
using System.Globalization;
using System.Text;
using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>What an agent wants done, in one epoch. Applied to a projection that has it already, it changes
/// nothing.</summary>
internal sealed record PlannedChange(ImmutableArray<UnitExit> Exits, NodeId OldSequencer, NodeAddress? NewSequencer,
    int Replicas, string Why)
{
    public ImmutableArray<AcceptorChange> Acceptors { get; init; } = [];

    /// <summary>A spare that comes when units have left without one: it fills up the chains that have become too
    /// short.</summary>
    public NodeAddress? Joins { get; init; }

    /// <summary>The same plan again, as far as who is concerned.</summary>
    public bool IsSame(PlannedChange? other) =>
        other is not null && OldSequencer == other.OldSequencer && NewSequencer == other.NewSequencer
        && Exits.AsSpan().SequenceEqual(other.Exits.AsSpan())
        && Joins == other.Joins && Acceptors.AsSpan().SequenceEqual(other.Acceptors.AsSpan());

    /// <exception cref="ReconfigurationException">A chain would have no full replica left (R14).</exception>
    public Membership? Apply(Projection projection)
    {
        var membership = Membership.Of(projection);
        var changed = false;
        if (NewSequencer is { } sequencer && projection.Sequencer.Id == OldSequencer)
        {
            membership = membership.WithSequencer(sequencer);
            changed = true;
        }

        foreach (var acceptor in Acceptors)
        {
            var at = membership.Acceptors.IndexOf(acceptor.Old);
            if (at < 0 || membership.Acceptors.Contains(acceptor.New)) continue;
            membership = membership with { Acceptors = membership.Acceptors.SetItem(at, acceptor.New) };
            changed = true;
        }

        var without = ActivePlacement.Without(membership, projection, Exits, Replicas);
        changed |= !ReferenceEquals(without, membership);
        if (Joins is { } joins && !projection.HasUnit(joins.Id) && ActivePlacement.IsShort(projection, Replicas))
        {
            without = ActivePlacement.With(without, joins, Replicas);
            changed = true;
        }

        return changed ? without : null;
    }

    public override string ToString()
    {
        var text = new StringBuilder(Why);
        if (NewSequencer is { } sequencer)
            text.Append(CultureInfo.InvariantCulture, $"; {sequencer.Endpoint} takes over");
        foreach (var exit in Exits)
        {
            text.Append(CultureInfo.InvariantCulture,
                $"; {exit.Unit.Endpoint} {(exit.Keeps ? "gets nothing new" : "is out")}");
            if (exit.Spare is { } spare)
                text.Append(CultureInfo.InvariantCulture, $", {spare.Endpoint} takes its place");
        }

        if (Joins is { } joins) text.Append(CultureInfo.InvariantCulture, $"; {joins.Endpoint} joins");
        foreach (var acceptor in Acceptors)
            text.Append(CultureInfo.InvariantCulture,
                $"; {acceptor.New.Endpoint} decides instead of {acceptor.Old.Endpoint}");
        return text.ToString();
    }
}

/// <summary>A unit that gets no new entries any more.</summary>
/// <param name="Spare">Takes its place in the chains of new entries; none where there is none.</param>
/// <param name="Keeps">It stays with the entries that it has, for reads; otherwise it leaves every chain at once
/// (R2).</param>
internal sealed record UnitExit(NodeAddress Unit, NodeAddress? Spare, bool Keeps);

/// <summary>An acceptor of the layout gives its place to another.</summary>
internal readonly record struct AcceptorChange(NodeAddress Old, NodeAddress New);
