using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Text.Json;
using Corfu.Cli;
using Corfu.Client;
using Corfu.Hosting;
using Corfu.Integration.Tests.Support;
using Corfu.ZooKeeper.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Integration.Tests.Hosting;

/// <summary>A front end of ZooKeeper's protocol in a host of one's own.</summary>
public sealed class ZooKeeperHostTests
{
    [Fact]
    public async Task Front_ends_serve_while_the_host_runs()
    {
        await using var cluster = await EmbeddedCluster.StartAsync(
            new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        var builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Services.AddCorfuClient(cluster.ConnectionString);
        builder.Services.AddCorfuZooKeeper(new ZooKeeperFrontEndOptions(new IPEndPoint(IPAddress.Loopback, 0)));
        builder.Services.AddCorfuZooKeeper(
            new ZooKeeperFrontEndOptions(new IPEndPoint(IPAddress.Loopback, 0)) { Service = "other" });
        using var host = builder.Build();
        await host.StartAsync();
        var endPoints = host.Services.GetServices<ZooKeeperFrontEndService>().Select(static one => one.EndPoint)
            .ToList();
        Assert.Equal(2, endPoints.Distinct().Count());
        foreach (var endPoint in endPoints) Assert.Equal("imok", await AskAsync(endPoint, "ruok"));
        await host.StopAsync();
        foreach (var endPoint in endPoints)
            await Assert.ThrowsAnyAsync<SocketException>(() => AskAsync(endPoint, "ruok"));
    }

    [Fact]
    public async Task Node_serves_by_the_settings_of_the_configuration()
    {
        await using var cluster = await EmbeddedCluster.StartAsync(
            new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        var listen = TestPorts.Endpoint();
        var start = new FrontEndStart(listen, cluster.ConnectionString, [], NullLoggerFactory.Instance)
        {
            Settings = JsonElement.Parse("""{ "service": "own", "reads": "linearizable" }"""),
        };
        await using var frontEnd = await new ZooKeeperNodeFrontEnd().StartAsync(start, default);
        while (((IFrontEndHealth)frontEnd).Fault is not null) await Task.Delay(1);
        var settings = await AskAsync(start.EndPoint, "conf");
        Assert.Contains("service=own\nreads=linearizable\n", settings, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("""{ "color": "red" }""", "color")]
    [InlineData("""{ "reads": 1 }""", "reads")]
    [InlineData("""{ "service": "" }""", "settings.service is empty")]
    [InlineData("""{ "reads": "linearizable", "readOnly": true }""", "exclude each other")]
    public async Task Settings_without_a_meaning_are_refused(string settings, string message)
    {
        var start = new FrontEndStart(TestPorts.Endpoint(), "corfu://127.0.0.1:1", [], NullLoggerFactory.Instance)
        {
            Settings = JsonElement.Parse(settings),
        };
        var fault = await Assert.ThrowsAsync<CorfuException>(
            () => new ZooKeeperNodeFrontEnd().StartAsync(start, default));
        Assert.StartsWith("The front end zookeeper: ", fault.Message, StringComparison.Ordinal);
        Assert.Contains(message, fault.Message, StringComparison.Ordinal);
    }

    private static async Task<string> AskAsync(IPEndPoint endPoint, string word)
    {
        using var client = new TcpClient();
        await client.ConnectAsync(endPoint);
        await using var stream = client.GetStream();
        await stream.WriteAsync(Encoding.ASCII.GetBytes(word));
        using var answer = new StreamReader(stream);
        return await answer.ReadToEndAsync();
    }
}
