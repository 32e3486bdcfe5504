namespace Craq.Connecting;

/// <summary>From a few endpoints to the CRAQ nodes behind them.</summary>
internal static class NodeFinder
{
    private static readonly TimeSpan s_grace = TimeSpan.FromMilliseconds(100);

    /// <summary>Asks all endpoints. The transport need not know the cluster yet.</summary>
    /// <exception cref="CraqNotFoundException">Says for every endpoint what was found there.</exception>
    public static async Task<FoundNodes> FindAsync(ImmutableArray<NodeEndpoint> endpoints, ITransport transport,
        TimeProvider time, CancellationToken cancellationToken)
    {
        var answers = await AskAllAsync(endpoints, transport, time, cancellationToken);
        var nodes = answers.Where(answer => answer.Node is not null).ToList();
        var clusters = nodes.Select(answer => answer.Description!.Cluster).Distinct().ToList();
        if (clusters.Count == 1) return new FoundNodes(clusters[0], [.. nodes.Select(answer => answer.Node!.Value)]);
        var at = string.Join(',', endpoints);
        throw new CraqNotFoundException(clusters.Count == 0
            ? $"No CRAQ node answers at {at} ({string.Join("; ", answers.Select(answer => answer.ToString()))})."
            : $"The endpoints {at} belong to {clusters.Count} different clusters: {string.Join(", ", clusters)}.");
    }

    /// <summary>A frozen process takes connections and is silent: once a node is found, the others get a moment and not
    /// the transport's whole time-out.</summary>
    private static async Task<Answer[]> AskAllAsync(ImmutableArray<NodeEndpoint> endpoints, ITransport transport,
        TimeProvider time, CancellationToken cancellationToken)
    {
        using var enough = new CancellationTokenSource(Timeout.InfiniteTimeSpan, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(enough.Token, cancellationToken);
        var calls = endpoints.Select(endpoint => AskAsync(transport, endpoint, either.Token)).ToList();
        var pending = calls.ToList();
        while (pending.Count > 0)
        {
            var ended = await Task.WhenAny(pending);
            pending.Remove(ended);
            if ((await ended).Node is not null) enough.CancelAfter(s_grace);
        }

        cancellationToken.ThrowIfCancellationRequested();
        return await Task.WhenAll(calls);
    }

    private static async Task<Answer> AskAsync(
        ITransport transport, NodeEndpoint endpoint, CancellationToken cancellationToken)
    {
        try
        {
            return new Answer(endpoint, await transport.DescribeAsync(endpoint, cancellationToken), null);
        }
        catch (Exception e) when (e is TransportException or OperationCanceledException)
        {
            return new Answer(endpoint, null, e is TransportException ? e.Message : "no answer yet");
        }
    }

    /// <summary>The process that answered at an endpoint, or the reason why none did.</summary>
    private sealed record Answer(NodeEndpoint Endpoint, NodeDescription? Description, string? Trouble)
    {
        public NodeAddress? Node
        {
            get
            {
                foreach (var role in Description?.Roles ?? [])
                {
                    if (role.Role == CraqRole.Role) return new NodeAddress(role.Id, Endpoint);
                }

                return null;
            }
        }

        public override string ToString() =>
            $"{Endpoint}: {Trouble ?? "roles " + string.Join('+', Description!.Roles.Select(role => role.Role))}";
    }
}

internal sealed record FoundNodes(ClusterId Cluster, ImmutableArray<NodeAddress> Nodes);
