using Corfu.Agent;

namespace Corfu.Cli;

/// <summary>From the connection string of a command to a client, and to what the agents at its endpoints
/// know.</summary>
internal static class Connections
{
    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(2);

    /// <summary>Connects through any node of the cluster. A spare, a standby or a sequencer holds no projection; its
    /// agent knows the nodes that do.</summary>
    /// <exception cref="UsageException">The connection string is malformed.</exception>
    /// <exception cref="ClusterNotFoundException">No cluster there.</exception>
    public static async Task<CorfuClient> ConnectAsync(string text, CancellationToken cancellationToken)
    {
        if (!ConnectionString.TryParse(text, out var connection, out var fault)) throw new UsageException(fault);
        try
        {
            return await CorfuClient.ConnectAsync(text, cancellationToken: cancellationToken);
        }
        catch (ClusterNotFoundException)
        {
            var known = await KnownNodesAsync(connection.Endpoints, cancellationToken);
            if (known.IsEmpty) throw;
            var others = new ConnectionString(known).ToString();
            return await CorfuClient.ConnectAsync(others, cancellationToken: cancellationToken);
        }
    }

    /// <summary>A transport for short questions to nodes that may be gone.</summary>
    public static TcpTransport NewTransport(ClusterId cluster) =>
        new(new TcpTransportOptions { Cluster = cluster, ConnectTimeout = Timeout, RequestTimeout = Timeout });

    /// <exception cref="UsageException">The text is no endpoint.</exception>
    public static NodeEndpoint EndpointOf(string text) => NodeEndpoint.TryParse(text, out var endpoint)
        ? endpoint
        : throw new UsageException($"'{text}' is no host:port.");

    /// <exception cref="TransportException">No node answers there.</exception>
    public static async Task<NodeDescription> DescribeAsync(NodeEndpoint endpoint, CancellationToken cancellationToken)
    {
        using var discovery = NewTransport(ClusterId.None);
        return await discovery.DescribeAsync(endpoint, cancellationToken);
    }

    /// <summary>The answer of the agent at an endpoint; null if none answers.</summary>
    public static async Task<AgentAnswer?> AskAgentAsync(NodeEndpoint endpoint, CancellationToken cancellationToken)
    {
        try
        {
            // Only a transport of its own cluster may ask it more.
            var description = await DescribeAsync(endpoint, cancellationToken);
            using var transport = NewTransport(description.Cluster);
            return await OperatorSession.AskAsync(transport, endpoint, cancellationToken);
        }
        catch (TransportException)
        {
            return null;
        }
    }

    private static async Task<ImmutableArray<NodeEndpoint>> KnownNodesAsync(
        ImmutableArray<NodeEndpoint> endpoints, CancellationToken cancellationToken)
    {
        var answers = await Task.WhenAll(endpoints.Select(endpoint => AskAgentAsync(endpoint, cancellationToken)));
        var acceptors = from answer in answers
                        where answer is not null
                        from node in answer.Info.Nodes
                        where node.Role == NodeRole.Acceptor
                        // Acceptors of the projection come first: a connection string names a limited number of
                        // endpoints.
                        orderby node.Duty == NodeDuty.Serving descending, node.Health == NodeHealth.Alive descending
                        select node.Address.Endpoint;
        return [.. acceptors.Distinct().Take(ConnectionString.MaxEndpoints)];
    }
}
