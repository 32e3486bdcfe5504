using System.Collections.Immutable;
using Corfu.Agent;
using Corfu.Client;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Cli;

/// <summary>A connected administrator: a client, the operations, and the cluster's agents, for the length of one command.</summary>
internal sealed class AdminSession : IAsyncDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(2);

    private readonly TcpTransport _transport;
    private readonly ImmutableArray<NodeEndpoint> _endpoints;

    private AdminSession(CorfuClient client, ImmutableArray<NodeEndpoint> endpoints)
    {
        Client = client;
        _endpoints = endpoints;
        _transport = new TcpTransport(new TcpTransportOptions { Cluster = client.Projection.Cluster, ConnectTimeout = Patience, RequestTimeout = Patience });
        Operations = new ClusterOperations(client, _transport, TimeProvider.System);
    }

    public CorfuClient Client { get; }

    public ClusterOperations Operations { get; }

    public ITransport Transport => _transport;

    /// <exception cref="UsageException">The connection string is malformed.</exception>
    public static async Task<AdminSession> OpenAsync(string connectionString, CancellationToken cancellationToken)
    {
        if (!ConnectionString.TryParse(connectionString, out var parsed, out var fault)) throw new UsageException(fault);
        return new AdminSession(await CorfuClient.ConnectAsync(connectionString, cancellationToken: cancellationToken), parsed.Endpoints);
    }

    public static string Reason(string text) => new ReconfigurationReason(false, "corfu reconfigure", text).ToString();

    /// <summary>What every agent that can be reached says, in the order of their endpoints.</summary>
    public async Task<ImmutableArray<(NodeAddress Agent, AgentInfoResponse Info)>> AgentsAsync(CancellationToken cancellationToken)
    {
        var projection = Client.Projection;
        var endpoints = _endpoints
            .Concat(projection.Units.Select(unit => unit.Endpoint))
            .Concat(projection.Acceptors.Select(acceptor => acceptor.Endpoint))
            .Append(projection.Sequencer.Endpoint)
            .ToHashSet();
        var infos = (await Task.WhenAll(endpoints.Select(endpoint => AgentAsync(endpoint, cancellationToken)))).ToList();
        // Agents know processes that the projection does not name: spares and standbys.
        var more = infos.SelectMany(info => info?.Info.Nodes ?? []).Select(node => node.Address.Endpoint).Where(endpoint => !endpoints.Contains(endpoint)).ToHashSet();
        infos.AddRange(await Task.WhenAll(more.Select(endpoint => AgentAsync(endpoint, cancellationToken))));
        return [.. infos.OfType<(NodeAddress Agent, AgentInfoResponse Info)>().OrderBy(info => info.Agent.Endpoint)];
    }

    /// <summary>The identity of the role that answers at an endpoint.</summary>
    /// <exception cref="UsageException">It is no endpoint, or serves no such role.</exception>
    public async Task<NodeAddress> FindAsync(string endpoint, NodeRole role, CancellationToken cancellationToken)
    {
        if (!NodeEndpoint.TryParse(endpoint, out var parsed)) throw new UsageException($"'{endpoint}' is no host:port.");
        var description = await _transport.DescribeAsync(parsed, cancellationToken);
        var found = description.Roles.FirstOrDefault(candidate => candidate.Role == role);
        return found.Id.IsNone ? throw new UsageException($"The process at {parsed} runs no {role.ToString().ToLowerInvariant()}.") : new NodeAddress(found.Id, parsed);
    }

    /// <summary>A unit of the projection, by its endpoint or its identity: it need not answer.</summary>
    /// <exception cref="UsageException">The projection names no such unit.</exception>
    public NodeAddress UnitOf(string text)
    {
        var named = Client.Projection.Units.Where(unit => unit.Endpoint.ToString() == text || unit.Id.ToString().StartsWith(text, StringComparison.OrdinalIgnoreCase)).ToArray();
        return named.Length == 1 ? named[0] : throw new UsageException($"'{text}' names {(named.Length == 0 ? "no unit" : "several units")} of {Client.Projection.Epoch}: give its host:port or its identity.");
    }

    public async Task<bool> AnswersAsync(NodeAddress unit, CancellationToken cancellationToken)
    {
        try
        {
            return (await _transport.CallAsync(unit, new UnitInfoRequest(Client.Projection.Epoch), cancellationToken)).IsOk;
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

    private async Task<(NodeAddress Agent, AgentInfoResponse Info)?> AgentAsync(NodeEndpoint endpoint, CancellationToken cancellationToken)
    {
        try
        {
            var description = await _transport.DescribeAsync(endpoint, cancellationToken);
            var role = description.Roles.FirstOrDefault(role => role.Role == NodeRole.Agent);
            if (role.Id.IsNone) return null;
            var agent = new NodeAddress(role.Id, endpoint);
            var info = await _transport.CallAsync(agent, new AgentInfoRequest(Epoch.None), cancellationToken);
            return info.IsOk ? (agent, info) : null;
        }
        catch (TransportException)
        {
            return null;
        }
    }
}
