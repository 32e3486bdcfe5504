using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Agent;

public sealed partial class ClusterOperations
{
    /// <summary>
    /// Other acceptors decide from the next epoch on (R12). On return a majority of them holds the decided state, and
    /// those that are not among them may be retired.
    /// </summary>
    /// <param name="acceptors">An odd number. All must answer: they are about to become the only ones.</param>
    /// <exception cref="ReconfigurationException">One does not answer, and nothing is changed.</exception>
    /// <exception cref="Client.Layout.LayoutUnavailableException">The hand-over was cut short: call again before any is
    /// retired.</exception>
    public async Task<Projection> SetAcceptorsAsync(ImmutableArray<NodeAddress> acceptors, string reason,
        CancellationToken cancellationToken = default)
    {
        if (acceptors.Length % 2 == 0)
            throw new ReconfigurationException(
                $"{acceptors.Length} acceptors: an even number bears no more failures than one fewer.");
        var current = await client.RefreshAsync(cancellationToken);
        ImmutableArray<NodeAddress> added = [.. acceptors.Where(a => !current.Acceptors.Contains(a))];
        var answering = await ProbeAsync(added, _ => new LatestRequest(Epoch.None), static (_, r) => r.IsOk,
            cancellationToken, all: true);
        foreach (var acceptor in added)
        {
            if (!answering.Contains(acceptor))
                throw new ReconfigurationException($"Acceptor {acceptor} does not answer.");
        }

        return await client.ReconfigureAsync(
            p => p.Acceptors.SequenceEqual(acceptors) ? null : Membership.Of(p) with { Acceptors = acceptors }, reason,
            cancellationToken);
    }

    /// <summary>One acceptor's place is taken by the first candidate that answers, freshly formatted.</summary>
    public async Task<Projection> ReplaceAcceptorAsync(
        NodeId failed, ImmutableArray<NodeAddress> candidates, string reason,
        CancellationToken cancellationToken = default)
    {
        var current = await client.RefreshAsync(cancellationToken);
        if (!current.Acceptors.Any(a => a.Id == failed)) return current;
        ImmutableArray<NodeAddress> others = [.. candidates.Where(c => !current.Acceptors.Any(a => a.Id == c.Id))];
        var answering = await ProbeAsync(others, _ => new LatestRequest(Epoch.None),
            static (_, r) => r is { IsOk: true, Latest: null }, cancellationToken);
        if (answering.IsEmpty)
            throw new ReconfigurationException(
                $"None of {candidates.Length} candidates for acceptor {failed} is fresh and answers.");
        return await SetAcceptorsAsync([.. current.Acceptors.Select(a => a.Id == failed ? answering[0] : a)], reason,
            cancellationToken);
    }
}
