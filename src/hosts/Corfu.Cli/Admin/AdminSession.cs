using Corfu.Agent;

namespace Corfu.Cli;

/// <summary>A connected administrator: a client, the operations, and the cluster's agents, for the length of one
/// command.</summary>
internal sealed class AdminSession : IAsyncDisposable
{
    private const string Tool = "corfu reconfigure";

    private readonly TcpTransport _transport;

    private AdminSession(CorfuClient client, ConnectionString given)
    {
        _transport = Connections.NewTransport(given, client.Projection.Cluster);
        Client = client;
        Operator = new OperatorSession(client.Cluster, _transport, TimeProvider.System, given.Endpoints, Tool);
    }

    public OperatorSession Operator { get; }

    public CorfuClient Client { get; }

    public ClusterClient Cluster => Client.Cluster;

    public ClusterOperations Operations => Operator.Operations;

    public ITransport Transport => _transport;

    /// <exception cref="UsageException">The connection string is malformed.</exception>
    public static async Task<AdminSession> OpenAsync(string connectionString, CancellationToken cancellationToken)
    {
        var connected = await Connections.ConnectAsync(connectionString, cancellationToken);
        return new AdminSession(connected, Connections.Parse(connectionString));
    }

    public static string Reason(string text) => new ReconfigurationReason(false, Tool, text).ToString();

    public Task<ImmutableArray<AgentAnswer>> AgentsAsync(CancellationToken cancellationToken) =>
        Operator.AgentsAsync(cancellationToken);

    /// <summary>The identity of the role that answers at an endpoint.</summary>
    /// <exception cref="UsageException">The text is no endpoint.</exception>
    public Task<NodeAddress> FindAsync(string endpoint, NodeRole role, CancellationToken cancellationToken) =>
        Operator.FindAsync(Connections.EndpointOf(endpoint), role, cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await Client.DisposeAsync();
        _transport.Dispose();
    }
}
