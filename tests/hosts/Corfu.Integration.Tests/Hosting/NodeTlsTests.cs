using Corfu.Client;
using Corfu.Hosting;
using Corfu.Integration.Tests.Support;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Integration.Tests.Hosting;

/// <summary>A cluster with certificates, from the folder to a client.</summary>
public sealed class NodeTlsTests
{
    [Fact]
    public async Task Cluster_with_certificates_serves_clients_that_have_one()
    {
        using var folder = new TempFolder();
        await using var cluster = await EmbeddedCluster.StartAsync(
            new EmbeddedClusterOptions { Folder = folder.File("cluster"), Tls = true, Spares = 1, Sequencers = 2 });
        Assert.StartsWith(ConnectionString.TlsScheme, cluster.ConnectionString, StringComparison.Ordinal);
        await using var client = await cluster.ConnectAsync();
        var raw = StreamId.FromName("tls");
        for (var i = 0; i < 100; i++) (await client.AppendAsync(new byte[] { (byte)i }, [raw])).Require();

        // A sequencer that goes is replaced over TLS as over plain connections.
        var sequencer =
            cluster.Manifest.Nodes.First(node => node.Name.StartsWith("sequencer", StringComparison.Ordinal));
        await cluster.StopNodeAsync(sequencer.Name);
        (await client.AppendAsync(new byte[] { 100 }, [raw])).Require();
        Assert.Equal(101, (await client.CheckAsync([])).Tail.Offset);
    }

    [Fact]
    public async Task Plain_client_of_a_cluster_with_certificates_learns_which_scheme_to_use()
    {
        using var folder = new TempFolder();
        await using var cluster = await EmbeddedCluster.StartAsync(
            new EmbeddedClusterOptions { Folder = folder.File("cluster"), Tls = true });
        var plain = new ConnectionString(ConnectionString.Parse(cluster.ConnectionString).Endpoints);
        var fault = await Assert.ThrowsAsync<ClusterNotFoundException>(
            () => CorfuClient.ConnectAsync(plain.ToString()));
        Assert.Contains("corfus://", fault.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Certificate_of_another_role_starts_no_node()
    {
        using var folder = new TempFolder();
        var path = folder.File("cluster");
        await using (await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Folder = path, Tls = true }))
        {
            // Made, and stopped again.
        }

        var node = ClusterFolder.Open(path).Manifest.Nodes[0];
        var config = ClusterFolder.Open(path).ConfigPath(node);
        var options = NodeConfig.Load(config);
        options.Tls = options.Tls with { Folder = ClusterCertificates.AdminOf(path) };
        var fault = await Assert.ThrowsAsync<NodeStartException>(() => CorfuNode.StartAsync(options,
            Microsoft.Extensions.Logging.Abstractions.NullLoggerFactory.Instance, TimeProvider.System));
        Assert.Contains("corfu cert issue --role node", fault.Message, StringComparison.Ordinal);
    }
}
