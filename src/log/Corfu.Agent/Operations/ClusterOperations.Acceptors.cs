namespace Corfu.Agent;

public sealed partial class ClusterOperations
{
    /// <summary>Other acceptors decide from the next epoch on. On return a majority of them holds the decided state,
    /// and the acceptors that have left may be retired.</summary>
    /// <param name="acceptors">An odd number. All must answer: no others decide from then on.</param>
    /// <exception cref="ReconfigurationException">An acceptor does not answer, and nothing is changed.</exception>
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
        var answering = await ProbeAsync(added, new LatestRequest(Epoch.None), static r => r.IsOk, cancellationToken,
            all: true);
        foreach (var acceptor in added.Except(answering))
            throw new ReconfigurationException($"Acceptor {acceptor} does not answer.");
        return await client.ReconfigureAsync(
            p => p.Acceptors.SequenceEqual(acceptors) ? null : Membership.Of(p) with { Acceptors = acceptors }, reason,
            cancellationToken);
    }
}
