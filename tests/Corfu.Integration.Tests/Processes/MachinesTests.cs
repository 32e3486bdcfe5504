using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Corfu.Client;
using Corfu.Integration.Tests.Support;

namespace Corfu.Integration.Tests.Processes;

/// <summary>Clusters whose nodes are made one by one, as on several machines.</summary>
public sealed class MachinesTests
{
    [Fact]
    public async Task Three_nodes_made_one_by_one_become_a_cluster()
    {
        using var folder = new TempFolder();
        var running = new List<Process>();
        int[] ports = [FreePort(), FreePort(), FreePort()];
        string Address(int i) => $"127.0.0.1:{ports[i]}";
        try
        {
            (await CorfuTool.RunAsync("cluster", "init", "--dir", folder.File("a"), "--listen", Address(0))).Require();
            running.Add(await StartAsync(folder.File("a")));
            foreach (var (name, i) in new[] { ("b", 1), ("c", 2) })
            {
                (await CorfuTool.RunAsync("node", "init", "--dir", folder.File(name), "--join", Address(0), "--roles",
                    "unit,acceptor", "--listen", Address(i))).Require();
                running.Add(await StartAsync(folder.File(name)));
            }

            var connect = $"corfu://{Address(0)},{Address(1)},{Address(2)}";
            await using var client = await CorfuClient.ConnectAsync($"corfu://{Address(0)}");
            (await client.AppendAsync("first"u8.ToArray(), [])).Require();
            (await CorfuTool.RunAsync("reconfigure", "add-unit", "--connect", connect, Address(1), Address(2)))
                .Require();
            (await CorfuTool.RunAsync("reconfigure", "set-replicas", "--connect", connect, "2")).Require();
            (await CorfuTool.RunAsync("reconfigure", "set-acceptors", "--connect", connect, Address(0), Address(1),
                Address(2))).Require();
            var before = await client.RefreshAsync();
            Assert.Equal([3, 3], [before.Units.Length, before.Acceptors.Length]);
            Assert.All(before.Active.Chains, chain => Assert.Equal(2, chain.FullCount));

            (await client.AppendAsync("last"u8.ToArray(), [])).Require();
            Assert.Equal("first",
                Encoding.UTF8.GetString(
                    (await client.ReadManyAsync([new Protocol.LogPosition(0)]))[0].Entry!.Payload.Span));
        }
        finally
        {
            foreach (var process in running)
            {
                process.Kill();
                process.Dispose();
            }
        }
    }

    [Fact]
    public async Task A_majority_of_acceptors_that_is_destroyed_is_replaced_by_the_operators_word()
    {
        await using var cluster = await ClusterProcesses.UpAsync("--manual");
        await using (var client = await CorfuClient.ConnectAsync(cluster.ConnectionString))
            (await client.AppendAsync("kept"u8.ToArray(), [])).Require();
        (await CorfuTool.RunAsync("cluster", "down", "--dir", cluster.Folder)).Require();
        foreach (var name in new[] { "unit-1", "unit-2" })
            Directory.Delete(Path.Combine(cluster.Folder, name, "acceptor", "data"), recursive: true);
        Assert.Equal(1, (await CorfuTool.RunAsync("cluster", "up", "--dir", cluster.Folder)).ExitCode);
        var survivor = cluster.ConnectionString["corfu://".Length..].Split(',')[0];
        string[] command = ["reconfigure", "replace-destroyed-acceptors", "--survivor", survivor, survivor];
        Assert.Equal(2, (await CorfuTool.RunAsync(command)).ExitCode);
        (await CorfuTool.RunAsync([.. command, "--accept-loss"])).Require();
        await cluster.UpAgainAsync();
        await using var after = await CorfuClient.ConnectAsync(cluster.ConnectionString);
        Assert.Equal("kept",
            Encoding.UTF8.GetString((await after.ReadManyAsync([new Protocol.LogPosition(0)]))[0].Entry!.Payload.Span));
        (await after.AppendAsync("more"u8.ToArray(), [])).Require();
        Assert.Single(after.Projection.Acceptors);
    }

    private static async Task<Process> StartAsync(string folder)
    {
        var process = CorfuTool.Start("node", "--config", Path.Combine(folder, "node.json"));
        var line = await process.StandardOutput.ReadLineAsync();
        Assert.True(line?.StartsWith("serving ", StringComparison.Ordinal) == true,
            line ?? await process.StandardError.ReadToEndAsync());
        return process;
    }

    private static int FreePort()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
    }
}
