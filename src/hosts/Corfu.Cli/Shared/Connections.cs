using System.Collections.Concurrent;
using Corfu.Agent;

namespace Corfu.Cli;

/// <summary>From the connection string of a command to a client, and to what the agents at its endpoints
/// know.</summary>
internal static class Connections
{
    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(2);

    // Certificates by their folder, for as long as the command runs.
    private static readonly ConcurrentDictionary<string, ClusterTls> s_opened = new();

    /// <summary>Connects through any node of the cluster. A spare, a standby or a sequencer holds no projection; its
    /// agent knows the nodes that do.</summary>
    /// <exception cref="UsageException">The connection string is malformed.</exception>
    /// <exception cref="ClusterNotFoundException">No cluster there.</exception>
    public static async Task<CorfuClient> ConnectAsync(string text, CancellationToken cancellationToken)
    {
        var connection = Parse(text);
        var client = await ConnectAsync(text, connection, cancellationToken);
        CommandDeadline.Connected();
        return client;
    }

    /// <exception cref="UsageException">The connection string is malformed.</exception>
    public static ConnectionString Parse(string text) =>
        ConnectionString.TryParse(text, out var connection, out var fault)
            ? connection
            : throw new UsageException(fault);

    /// <summary>A transport for short questions to nodes that may be gone.</summary>
    /// <param name="cluster">None: the certificate's, or without TLS none, so that nodes can be asked for their
    /// description only.</param>
    /// <exception cref="CertificateException">The certificates are missing or of no use.</exception>
    public static TcpTransport NewTransport(ConnectionString connection, ClusterId cluster)
    {
        var tcp = new TcpTransportOptions
        {
            Cluster = cluster,
            ConnectTimeout = Timeout,
            RequestTimeout = Timeout,
            Tls = connection.IsTls ? s_opened.GetValueOrDefault(connection.Certificates ?? "") : null,
        };
        tcp = ConnectionTls.Apply(connection, tcp, new TlsOptions(), out var opened);
        if (opened is not null) s_opened[connection.Certificates ?? ""] = opened;
        return new TcpTransport(tcp);
    }

    /// <exception cref="UsageException">The text is no endpoint.</exception>
    public static NodeEndpoint EndpointOf(string text) => NodeEndpoint.TryParse(text, out var endpoint)
        ? endpoint
        : throw new UsageException($"'{text}' is no host:port.");

    /// <summary>The process at an endpoint, as a connection string or as <c>host:port</c>, which means TLS where
    /// CORFU_CERTS names a folder.</summary>
    /// <exception cref="UsageException">The text is neither.</exception>
    public static ConnectionString ProcessAt(string text)
    {
        if (!text.Contains("://", StringComparison.Ordinal))
        {
            return new ConnectionString([EndpointOf(text)])
            {
                IsTls = Environment.GetEnvironmentVariable(CertificateFolder.Variable) is { Length: > 0 },
            };
        }

        var connection = Parse(text);
        return connection.Endpoints.Length == 1
            ? connection
            : throw new UsageException($"'{text}' names {connection.Endpoints.Length} processes, where one is meant.");
    }

    /// <exception cref="TransportException">No node answers there.</exception>
    public static async Task<NodeDescription> DescribeAsync(ConnectionString process,
        CancellationToken cancellationToken)
    {
        using var discovery = NewTransport(process, ClusterId.None);
        return await discovery.DescribeAsync(process.Endpoints[0], cancellationToken);
    }

    /// <summary>The answer of the agent at an endpoint; null if none answers.</summary>
    private static async Task<AgentAnswer?> AskAgentAsync(ConnectionString process,
        CancellationToken cancellationToken)
    {
        try
        {
            // Only a transport of its own cluster may ask it more.
            var description = await DescribeAsync(process, cancellationToken);
            using var transport = NewTransport(process, description.Cluster);
            return await OperatorSession.AskAsync(transport, process.Endpoints[0], cancellationToken);
        }
        catch (TransportException)
        {
            return null;
        }
    }

    private static async Task<CorfuClient> ConnectAsync(
        string text, ConnectionString connection, CancellationToken cancellationToken)
    {
        try
        {
            return await CorfuClient.ConnectAsync(text, cancellationToken: cancellationToken);
        }
        catch (ClusterNotFoundException)
        {
            var known = await KnownNodesAsync(connection, cancellationToken);
            if (known.IsEmpty) throw;
            var others = (connection with { Endpoints = known }).ToString();
            return await CorfuClient.ConnectAsync(others, cancellationToken: cancellationToken);
        }
    }

    private static async Task<ImmutableArray<NodeEndpoint>> KnownNodesAsync(
        ConnectionString connection, CancellationToken cancellationToken)
    {
        var answers = await Task.WhenAll(connection.Endpoints.Select(endpoint =>
            AskAgentAsync(connection with { Endpoints = [endpoint] }, cancellationToken)));
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
