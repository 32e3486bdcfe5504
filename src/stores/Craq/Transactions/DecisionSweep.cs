using Craq.Coordination;

namespace Craq.Transactions;

/// <summary>Ends transactions whose lead has ended between their decision and its drop: the log does not grow with
/// leads that fail. The head of a transaction's first part does it.</summary>
/// <remarks>The caller ends a sweep before it begins the next one.</remarks>
internal sealed class DecisionSweep(CraqHandler handler, IChainDirectory directory, Decisions decisions)
{
    // Decisions that the sweep before has found, and left to their leads.
    private HashSet<Guid> _seen = [];

    /// <summary>Makes all parts of old decisions end as decided, and drops those whose parts have (C15).</summary>
    public async ValueTask SweepAsync(CancellationToken cancellationToken)
    {
        var found = await directory.DecisionsAsync(cancellationToken);
        // Read behind the decisions: a chain that it lacks is dropped for ever, and holds no lock.
        var view = await directory.ReadAsync(cancellationToken);
        var old = _seen;
        _seen = [];
        foreach (var (transaction, decision) in found)
        {
            ImmutableArray<PartId> parts = [.. decision.Parts.Where(part => view.Chains.ContainsKey(part.Chain))];
            if (!IsOwn(parts, view)) continue;
            _seen.Add(transaction);
            if (!old.Contains(transaction)) continue;
            cancellationToken.ThrowIfCancellationRequested();
            var answers = await decisions.SettleAsync(transaction, parts, decision.Outcome);
            await decisions.DropAsync(transaction, answers);
        }
    }

    // Without a chain any one node does it.
    private bool IsOwn(ImmutableArray<PartId> parts, DirectoryView view) => parts.IsEmpty
        ? view.Nodes.Values.FirstOrDefault(node => node.State == DirectoryNodeState.Active)?.Id == handler.Id
        : view.Chains[parts[0].Chain].Head.Node == handler.Id;
}
