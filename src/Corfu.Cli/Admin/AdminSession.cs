using Corfu.Agent;

namespace Corfu.Cli;

/// <summary>A connected administrator: a client, the operations, and the cluster's agents, for the length of one
/// command.</summary>
internal sealed class AdminSession(CorfuClient client, ImmutableArray<NodeEndpoint> given) : IAsyncDisposable
{
    // An operator named the nodes and does not want to say it again because one was busy.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    private readonly TcpTransport _transport = Connections.NewTransport(client.Projection.Cluster);

    public CorfuClient Client => client;

    public ClusterOperations Operations => new(client, _transport, TimeProvider.System) { ProbeTimeout = Patience };

    public ITransport Transport => _transport;

    /// <exception cref="UsageException">The connection string is malformed.</exception>
    public static async Task<AdminSession> OpenAsync(string connectionString, CancellationToken cancellationToken)
    {
        var connected = await Connections.ConnectAsync(connectionString, cancellationToken);
        return new AdminSession(connected, ConnectionString.Parse(connectionString).Endpoints);
    }

    public static string Reason(string text) => new ReconfigurationReason(false, "corfu reconfigure", text).ToString();

    /// <summary>What every agent that can be reached says, in the order of their endpoints.</summary>
    public async Task<ImmutableArray<AgentAnswer>> AgentsAsync(CancellationToken cancellationToken)
    {
        var projection = Client.Projection;
        var endpoints = given.Concat(projection.Units.Select(unit => unit.Endpoint))
            .Concat(projection.Acceptors.Select(acceptor => acceptor.Endpoint))
            .Append(projection.Sequencer.Endpoint)
            .ToHashSet();
        var infos =
            (await Task.WhenAll(endpoints.Select(endpoint => Connections.AskAgentAsync(endpoint, cancellationToken))))
                .ToList();
        // Agents know processes that the projection does not name: spares and standbys.
        var more = infos.SelectMany(info => info?.Info.Nodes ?? []).Select(node => node.Address.Endpoint).ToHashSet();
        more.ExceptWith(endpoints);
        infos.AddRange(
            await Task.WhenAll(more.Select(endpoint => Connections.AskAgentAsync(endpoint, cancellationToken))));
        return [.. infos.OfType<AgentAnswer>().OrderBy(info => info.Agent.Endpoint)];
    }

    /// <summary>The identity of the role that answers at an endpoint.</summary>
    /// <exception cref="UsageException">It is no endpoint, or serves no such role.</exception>
    public async Task<NodeAddress> FindAsync(string endpoint, NodeRole role, CancellationToken cancellationToken)
    {
        var parsed = Connections.EndpointOf(endpoint);
        var description = await _transport.DescribeAsync(parsed, cancellationToken);
        var found = description.Roles.FirstOrDefault(candidate => candidate.Role == role);
        return found.Id.IsNone
            ? throw new UsageException($"The process at {parsed} runs no {role.ToString().ToLowerInvariant()}.")
            : new NodeAddress(found.Id, parsed);
    }

    /// <summary>A unit of the projection, by its endpoint or its identity: it need not answer.</summary>
    /// <exception cref="UsageException">The projection names no such unit.</exception>
    public NodeAddress UnitOf(string text)
    {
        var projection = Client.Projection;
        var named = projection.Units
            .Where(
                unit =>
                    unit.Endpoint.ToString() == text
                    || unit.Id.ToString().StartsWith(text, StringComparison.OrdinalIgnoreCase))
            .ToArray();
        if (named.Length == 1) return named[0];
        var found = named.Length == 0 ? "no unit" : "several units";
        var units = string.Join(", ", projection.Units.Select(unit => unit.Endpoint));
        throw new UsageException(
            $"'{text}' names {found} of the cluster: give its host:port or its identity. Its units: {units}.");
    }

    public async Task<bool> AnswersAsync(NodeAddress unit, CancellationToken cancellationToken)
    {
        try
        {
            return (await _transport.CallAsync(unit, new UnitInfoRequest(Client.Projection.Epoch),
                cancellationToken)).IsOk;
        }
        catch (TransportException)
        {
            return false;
        }
    }

    public async ValueTask DisposeAsync()
    {
        await Client.DisposeAsync();
        _transport.Dispose();
    }
}
