using System.Text;
using Corfu.Hosting;
using Corfu.Integration.Tests.Support;

namespace Corfu.Integration.Tests.Embedded;

public sealed class GarbageTests
{
    public static TheoryData<string> Kinds => ["http", "random", "zeros", "huge frame"];

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task Garbage_to_every_port_costs_that_connection_only(string kind)
    {
        await using var cluster = await EmbeddedCluster.StartAsync();
        await using var client = await cluster.ConnectAsync();
        (await client.AppendAsync("before"u8.ToArray(), [])).Require();
        foreach (var node in cluster.Manifest.Nodes)
            Assert.True(await RawConnection.IsClosedAfterAsync(node.Endpoint, Garbage(kind)),
                $"{node.Name} keeps a connection that sent {kind}.");

        (await client.AppendAsync("after"u8.ToArray(), [])).Require();
        await using var newcomer = await cluster.ConnectAsync();
        Assert.Equal(2, (await newcomer.CheckAsync([])).Tail.Offset);
    }

    private static byte[] Garbage(string kind)
    {
        var bytes = new byte[4096];
        switch (kind)
        {
            case "http":
                return Encoding.ASCII.GetBytes(
                    "GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: somebody\r\nAccept: */*\r\nAccept-Encoding: "
                    + "gzip, deflate, br\r\n\r\n");
            case "random":
                new Random(7).NextBytes(bytes);
                return bytes;
            case "huge frame":
                bytes.AsSpan().Fill(0xFF);
                return bytes;
            default:
                return bytes;
        }
    }
}
