using System.Text.Json;
using Corfu.Client;
using Corfu.Integration.Tests.Support;
using Corfu.Protocol;

namespace Corfu.Integration.Tests.Processes;

/// <summary>Acceptors that are destroyed: a majority, or all (<c>corfu reconfigure
/// replace-destroyed-acceptors</c>).</summary>
public sealed class AcceptorLossTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    [Fact]
    public async Task A_majority_destroyed_in_a_running_cluster_is_replaced_and_comes_back()
    {
        await using var cluster = await ClusterProcesses.UpAsync();
        await AppendAsync(cluster, 0, 10);
        var at = Endpoints(cluster);
        string[] command = ["reconfigure", "replace-destroyed-acceptors", "--survivor", at[0], at[0]];
        Assert.Contains("a majority is there", await RefusedAsync([.. command, "--accept-loss"]));

        await DestroyAsync(cluster, "unit-1", "unit-2");
        Assert.Equal(1, (await CorfuTool.RunAsync("cluster", "up", "--dir", cluster.Folder)).ExitCode);
        Assert.Contains("--accept-loss", await RefusedAsync(command));
        Assert.Contains("odd number", await RefusedAsync([.. command, at[0], "--accept-loss"]));
        Assert.Contains("no acceptor that serves",
            await RefusedAsync([.. command, at[1], at[2], "--accept-loss"]));
        (await CorfuTool.RunAsync([.. command, "--accept-loss"])).Require();
        await cluster.UpAgainAsync();
        await SetAutomaticAsync(cluster, "on");
        await AppendAsync(cluster, 10, 10);

        // The destroyed ones learn that they were replaced, format themselves anew and stand by.
        await SetAcceptorsAsync(cluster, at);
        await RequireAsync(cluster, 20);
    }

    [Fact]
    public async Task Acceptors_all_destroyed_are_replaced_with_the_projection_that_any_node_remembers()
    {
        await using var cluster = await ClusterProcesses.UpAsync();
        await AppendAsync(cluster, 0, 10);
        var at = Endpoints(cluster);
        await DestroyAsync(cluster, "unit-0", "unit-1", "unit-2");
        // The processes that remember the projection have been restarted as well.
        (await CorfuTool.RunAsync("cluster", "down", "--dir", cluster.Folder)).Require();
        Assert.Equal(1, (await CorfuTool.RunAsync("cluster", "up", "--dir", cluster.Folder)).ExitCode);
        await CorfuTool.RunAsync("cluster", "add-spare", "--dir", cluster.Folder);
        var spare = Endpoint(cluster, "spare-0");
        (await CorfuTool.RunAsync("reconfigure", "replace-destroyed-acceptors", "--survivor", at[0], spare,
            "--accept-loss")).Require();
        await cluster.UpAgainAsync();
        await SetAutomaticAsync(cluster, "on");
        await AppendAsync(cluster, 10, 10);
        await SetAcceptorsAsync(cluster, at);
        await RequireAsync(cluster, 20);
    }

    [Fact]
    public async Task A_survivor_that_missed_an_epoch_is_refused()
    {
        await using var cluster = await ClusterProcesses.UpAsync("--manual");
        await AppendAsync(cluster, 0, 10);
        var at = Endpoints(cluster);
        await ClusterProcesses.KillAsync((await cluster.ProcessIdsAsync())["unit-2"]);
        (await CorfuTool.RunAsync("reconfigure", "remove-unit", "--connect", $"corfu://{at[0]}", at[2])).Require();
        await DestroyAsync(cluster, "unit-0", "unit-1", "sequencer");
        (await CorfuTool.RunAsync("cluster", "down", "--dir", cluster.Folder)).Require();
        await CorfuTool.RunAsync("cluster", "up", "--dir", cluster.Folder);
        var refused = await CorfuTool.RunAsync("reconfigure", "replace-destroyed-acceptors", "--survivor", at[2], at[2],
            "--accept-loss");
        Assert.Equal(1, refused.ExitCode);
        Assert.Contains("has served e2, which the survivor does not know", refused.Error);
        // Nodes that know the epoch are there.
        (await CorfuTool.RunAsync("reconfigure", "replace-destroyed-acceptors", "--survivor", at[0], at[2],
            "--accept-loss")).Require();
        await cluster.UpAgainAsync();
        await RequireAsync(cluster, 10);
    }

    private static string[] Endpoints(ClusterProcesses cluster) => cluster.ConnectionString["corfu://".Length..]
        .Split(',');

    private static string Endpoint(ClusterProcesses cluster, string node)
    {
        using var config = JsonDocument.Parse(
            File.ReadAllText(Path.Combine(cluster.Folder, node, "node.json")));
        return config.RootElement.GetProperty("listen").GetString()!;
    }

    private static long Remembered(ClusterProcesses cluster, string node)
    {
        var file = Path.Combine(cluster.Folder, node, "agent.json.projection");
        return File.Exists(file)
            ? ProjectionCodec.Decode(JsonSerializer.Deserialize<byte[]>(File.ReadAllText(file))).Epoch.Value
            : 0;
    }

    /// <summary>The nodes' processes are killed and their acceptors' data is gone. Before that each remembers the
    /// newest epoch.</summary>
    private static async Task DestroyAsync(ClusterProcesses cluster, params string[] nodes)
    {
        // No epoch begins while the nodes are killed one after another: no node that is left might remember it.
        await SetAutomaticAsync(cluster, "off");
        var epoch = await NewestEpochAsync(cluster);
        var processes = await cluster.ProcessIdsAsync();
        var began = TimeProvider.System.GetTimestamp();
        while (nodes.Any(node => Remembered(cluster, node) < epoch))
        {
            Assert.True(TimeProvider.System.GetElapsedTime(began) < Patience);
            await Task.Delay(50);
        }

        await ClusterProcesses.KillAsync(nodes.Select(node => processes[node]));
        foreach (var data in nodes.Select(node => Path.Combine(cluster.Folder, node, "acceptor", "data")))
            if (Directory.Exists(data)) Directory.Delete(data, recursive: true);
    }

    private static async Task SetAutomaticAsync(ClusterProcesses cluster, string state) =>
        (await CorfuTool.RunAsync("reconfigure", "auto", "--connect", cluster.ConnectionString, state)).Require();

    private static async Task<long> NewestEpochAsync(ClusterProcesses cluster)
    {
        await using var client = await CorfuClient.ConnectAsync(cluster.ConnectionString);
        return (await client.Cluster.RefreshAsync()).Epoch.Value;
    }

    private static async Task<string> RefusedAsync(string[] command)
    {
        var result = await CorfuTool.RunAsync(command);
        Assert.Equal(2, result.ExitCode);
        return result.Error;
    }

    private static async Task SetAcceptorsAsync(ClusterProcesses cluster, string[] acceptors)
    {
        var began = TimeProvider.System.GetTimestamp();
        while (true)
        {
            var result = await CorfuTool.RunAsync(
                ["reconfigure", "set-acceptors", "--connect", cluster.ConnectionString, .. acceptors]);
            if (result.ExitCode == 0) return;
            Assert.True(TimeProvider.System.GetElapsedTime(began) < Patience, result.Error);
            await Task.Delay(100);
        }
    }

    private static async Task AppendAsync(ClusterProcesses cluster, int first, int count)
    {
        await using var client = await CorfuClient.ConnectAsync(cluster.ConnectionString);
        await Entries.AppendAsync(client, first, count);
    }

    private static async Task RequireAsync(ClusterProcesses cluster, int count)
    {
        await using var client = await CorfuClient.ConnectAsync(cluster.ConnectionString);
        await Entries.RequireAsync(client, count);
    }
}
