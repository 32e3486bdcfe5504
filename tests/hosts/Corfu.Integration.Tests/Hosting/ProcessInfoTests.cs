using Corfu.Agent;
using Corfu.Client;
using Corfu.Hosting;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Integration.Tests.Hosting;

public sealed class ProcessInfoTests
{
    [Fact]
    public async Task Node_describes_the_process()
    {
        var before = DateTimeOffset.UtcNow.AddSeconds(-1);
        await using var cluster = await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions());
        var endpoint = ConnectionString.Parse(cluster.ConnectionString).Endpoints[0];
        using var discovery = new TcpTransport(new TcpTransportOptions());
        var description = await discovery.DescribeAsync(endpoint, default);
        using var transport = new TcpTransport(new TcpTransportOptions { Cluster = description.Cluster });
        var agent = (await OperatorSession.AskAsync(transport, endpoint, default))!.Agent;

        var answer = await transport.CallAsync(agent, new ProcessInfoRequest(Epoch.None), default);

        Assert.Equal(Status.Ok, answer.Status);
        var process = answer.Process!;
        Assert.NotEmpty(process.Name);
        Assert.Matches(@"^\d+\.\d+", process.Build);
        Assert.Equal((WireProtocol.Current.Lowest, WireProtocol.Current.Highest),
            (process.LowestProtocol, process.HighestProtocol));
        Assert.InRange(process.Now, before, DateTimeOffset.UtcNow.AddSeconds(1));
        Assert.InRange(process.Started, before, process.Now);
        Assert.InRange(process.Memory, 1 << 20, process.MemoryLimit);
        if (OperatingSystem.IsLinux())
        {
            Assert.InRange(process.OpenFiles, 3, process.OpenFileLimit);
            Assert.InRange(process.Swapped, 0, long.MaxValue);
        }

        Assert.NotEmpty(process.Disks);
        Assert.All(process.Disks, disk =>
        {
            Assert.True(Directory.Exists(disk.Path), disk.Path);
            Assert.NotEmpty(disk.FileSystem);
            Assert.InRange(disk.Free, 0, disk.Size);
            if (OperatingSystem.IsLinux()) Assert.InRange(disk.FreeInodes, 0, disk.Inodes);
        });

        // Without TLS a peer is a node, named by its address.
        var peer = Assert.Single(process.Identities);
        Assert.Equal((AccessRole.Node, "127.0.0.1"), (peer.Role, peer.Name));
        Assert.True(peer is { Connections: > 0, Requests: > 0, Bytes: > 0 }, peer.ToString());
    }
}
