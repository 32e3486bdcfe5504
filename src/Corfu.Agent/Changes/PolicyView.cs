using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>What a decision is made from.</summary>
/// <param name="Spares">Freshly formatted units that answer, best first.</param>
/// <param name="Standbys">Sequencers that answer, best first.</param>
internal sealed record PolicyView(
    Projection Projection, Func<NodeId, NodeVerdict> VerdictOf, ImmutableArray<NodeAddress> Spares,
    ImmutableArray<NodeAddress> Standbys)
{
    /// <summary>Acceptors that answer and that the projection does not name, best first.</summary>
    public ImmutableArray<NodeAddress> Acceptors { get; init; } = [];
}

/// <param name="Change">Null: nothing to do, or nothing that may be done.</param>
/// <param name="Note">What would be done and may not, and why not; empty if nothing is held back.</param>
internal sealed record PolicyDecision(PlannedChange? Change, string Note);
