using System.Collections.Immutable;
using System.Globalization;
using System.Text;
using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>What an agent wants done, in one epoch. Applied to a projection that has it already, it changes nothing.</summary>
public sealed record PlannedChange(ImmutableArray<UnitExit> Exits, NodeId OldSequencer, NodeAddress? NewSequencer, int Replicas, string Why)
{
    public bool RemovesUnits => !Exits.IsEmpty;

    /// <summary>The same plan again, as far as who is concerned.</summary>
    public bool IsSame(PlannedChange? other) =>
        other is not null && OldSequencer == other.OldSequencer && NewSequencer == other.NewSequencer && Exits.AsSpan().SequenceEqual(other.Exits.AsSpan());

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

        var without = ActivePlacement.Without(membership, projection, Exits, Replicas);
        changed |= !ReferenceEquals(without, membership);
        return changed ? without : null;
    }

    public override string ToString()
    {
        var text = new StringBuilder();
        if (NewSequencer is { } sequencer) text.Append(CultureInfo.InvariantCulture, $"the sequencer at {sequencer.Endpoint} takes over; ");
        foreach (var exit in Exits)
        {
            text.Append(CultureInfo.InvariantCulture, $"unit {exit.Unit.Endpoint} {(exit.Keeps ? "gets nothing new" : "is taken out")}");
            text.Append(exit.Spare is { } spare ? $", {spare.Endpoint} takes its place; " : "; ");
        }

        return text.Append(Why).ToString();
    }
}
