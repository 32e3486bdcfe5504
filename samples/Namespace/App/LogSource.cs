using Corfu;
using Corfu.Client;
using Corfu.Hosting;

namespace NamespaceSample.App;

/// <summary>Source of the log: a running cluster, or one inside this process. Clients end with it.</summary>
internal sealed class LogSource : IAsyncDisposable
{
    private readonly EmbeddedCluster? _embedded;
    private readonly List<CorfuClient> _clients = [];

    private LogSource(EmbeddedCluster? embedded, string connection) =>
        (_embedded, ConnectionString) = (embedded, connection);

    public string ConnectionString { get; }

    public string Description =>
        _embedded is null ? $"cluster {ConnectionString}" : $"embedded cluster in {_embedded.Folder}";

    /// <param name="connect">Null: an embedded cluster.</param>
    /// <param name="data">Folder of the embedded cluster; null: a temporary one, which goes with it.</param>
    public static async Task<LogSource> OpenAsync(
        string? connect, string? data, CancellationToken cancellationToken)
    {
        if (connect is not null) return new LogSource(null, connect);
        EmbeddedCluster embedded = await EmbeddedCluster.StartAsync(
            new EmbeddedClusterOptions { Units = 3, Replicas = 2, Folder = data }, cancellationToken);
        return new LogSource(embedded, embedded.ConnectionString);
    }

    public async Task<ICorfuLog> ConnectAsync(CancellationToken cancellationToken)
    {
        CorfuClient client = await CorfuClient.ConnectAsync(ConnectionString, cancellationToken: cancellationToken);
        lock (_clients) _clients.Add(client);
        return client;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (CorfuClient client in _clients) await client.DisposeAsync();
        if (_embedded is not null) await _embedded.DisposeAsync();
    }
}
