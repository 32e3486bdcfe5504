using Corfu.Client;

namespace Craq.Hosting.Tests.Memcached;

/// <summary>Three nodes over real files, connections and a real log; the first has a memcached port.</summary>
public sealed class MemcachedNodes : IAsyncLifetime
{
    private EmbeddedCluster _cluster = null!;
    private EmbeddedCraq _craq = null!;

    public int Port { get; } = TestPorts.Take();

    public async ValueTask InitializeAsync()
    {
        _cluster = await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        _craq = await EmbeddedCraq.StartAsync(_cluster.ConnectionString,
            new EmbeddedCraqOptions { Memcached = [$"{Port}=strong"] });
        await using var log = await _cluster.ConnectAsync();
        await using var admin = await CraqAdmin.OpenAsync(log);
        await admin.CreateKeyspaceAsync("main", 4, Placement.Default);
    }

    public async ValueTask DisposeAsync()
    {
        await _craq.DisposeAsync();
        await _cluster.DisposeAsync();
    }

    internal Task<BinaryConnection> ConnectAsync() => BinaryConnection.OpenAsync(Port);
}
