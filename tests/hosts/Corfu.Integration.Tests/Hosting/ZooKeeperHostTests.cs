using System.Net;
using System.Net.Sockets;
using System.Text;
using Corfu.Hosting;
using Corfu.ZooKeeper.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

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
