namespace Craq.Hosting.Tests;

/// <summary>Nodes beside a log that has TLS.</summary>
public sealed class TlsTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("craq-tls-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public async Task Nodes_have_certificates_of_the_logs_authority_and_take_no_plain_client()
    {
        var log = Path.Combine(_folder, "log");
        var nodes = Path.Combine(_folder, "nodes");
        await using var cluster = await EmbeddedCluster.StartAsync(
            new EmbeddedClusterOptions { Folder = log, Units = 1, Replicas = 1, Tls = true });
        var without = await Assert.ThrowsAsync<NodeStartException>(() => EmbeddedCraq.StartAsync(
            cluster.ConnectionString, new EmbeddedCraqOptions { Folder = Path.Combine(_folder, "none") }));
        Assert.Contains("authority", without.Message, StringComparison.Ordinal);
        Assert.False(Directory.Exists(Path.Combine(_folder, "none")));

        var options = new EmbeddedCraqOptions { Folder = nodes, Authority = ClusterCertificates.AuthorityOf(log) };
        ObjectVersion written;
        await using (var craq = await EmbeddedCraq.StartAsync(cluster.ConnectionString, options))
        {
            Assert.StartsWith(CraqConnectionString.TlsScheme, craq.ConnectionString, StringComparison.Ordinal);
            await using var corfu = await cluster.ConnectAsync();
            await using var admin = await CraqAdmin.OpenAsync(corfu);
            await admin.CreateChainAsync("orders", Placement.Default);
            await using var client = await craq.ConnectAsync();
            written = (await client.Chain("orders").PutAsync("k", "v"u8.ToArray())).Version;
            Assert.Equal(written, (await client.Chain("orders").GetAsync("k")).Version);
            var plain = new CraqConnectionString(CraqConnectionString.Parse(craq.ConnectionString).Endpoints);
            var refused = await Assert.ThrowsAsync<CraqNotFoundException>(
                () => CraqClient.ConnectAsync(plain.ToString()));
            Assert.Contains("craqs://", refused.Message, StringComparison.Ordinal);
        }

        // Refused nodes leave no name in the folder.
        var formed = CraqFolder.Open(nodes).Manifest.Nodes;
        var more = new CraqShape(cluster.ConnectionString)
        { Datacenters = [(CraqNodeSettings.DefaultDatacenter, formed.Length + 1)] };
        await Assert.ThrowsAsync<NodeStartException>(() => CraqFolder.OpenOrCreateAsync(nodes, more));
        Assert.Equal(formed.AsEnumerable(), CraqFolder.Open(nodes).Manifest.Nodes);

        // Later starts need no authority.
        await using var again = await EmbeddedCraq.StartAsync(
            cluster.ConnectionString, new EmbeddedCraqOptions { Folder = nodes });
        await using var reader = await again.ConnectAsync();
        Assert.Equal(written, (await reader.Chain("orders").GetAsync("k")).Version);
    }
}
