using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Integration.Tests.Support;
using Corfu.Protocol;

namespace Corfu.Integration.Tests.Processes;

/// <summary>A node listens elsewhere (<c>corfu node move</c>): its identity and its data stay, and nothing is
/// copied.</summary>
public sealed class MoveTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    [Fact]
    public async Task Unit_and_acceptor_move_together_with_the_data()
    {
        await using var cluster = await ClusterProcesses.UpAsync();
        await using var client = await CorfuClient.ConnectAsync(cluster.ConnectionString);
        await Entries.AppendAsync(client, 0, 50);
        var before = client.Projection;
        var folder = Path.Combine(cluster.Folder, "unit-1");
        var there = TestPorts.Address();
        Assert.Contains("in use", (await MoveAsync(folder, there, exitCode: 1)).Error);
        // On a busy machine what follows takes longer than agents wait before they replace a unit.
        (await CorfuTool.RunAsync("reconfigure", "auto", "--connect", cluster.ConnectionString, "off")).Require();
        await StopAsync((await cluster.ProcessIdsAsync())["unit-1"]);
        Assert.Contains("not a loopback address", (await MoveAsync(folder, "10.1.2.3:4", exitCode: 1)).Error);
        await MoveAsync(folder, there);
        await cluster.UpAgainAsync();
        await Entries.AppendAsync(client, 50, 50);

        var after = await cluster.WaitForAsync(client,
            p => p.Units.Concat(p.Acceptors).Count(node => node.Endpoint.ToString() == there) == 2, Patience);
        Assert.Equal(Ids(before.Units), Ids(after.Units));
        Assert.Equal(Ids(before.Acceptors), Ids(after.Acceptors));
        Assert.Equal(before.Active.Chains, after.Active.Chains);
        Assert.True(await IsWellAsync(there));
        await Entries.RequireAsync(client, 100);
        await Entries.AppendAsync(client, 100, 10);
        Assert.Empty(Directory.GetDirectories(folder, "unit.kept-*"));
    }

    [Fact]
    public async Task A_sequencer_moves()
    {
        await using var cluster = await ClusterProcesses.UpAsync();
        await using var client = await CorfuClient.ConnectAsync(cluster.ConnectionString);
        await Entries.AppendAsync(client, 0, 10);
        await StopAsync((await cluster.ProcessIdsAsync())["sequencer"]);
        var there = TestPorts.Address();
        await MoveAsync(Path.Combine(cluster.Folder, "sequencer"), there);
        await cluster.UpAgainAsync();
        await Entries.AppendAsync(client, 10, 10);
        Assert.Equal(there, client.Projection.Sequencer.Endpoint.ToString());
        await Entries.RequireAsync(client, 20);
    }

    [Fact]
    public async Task All_nodes_of_a_cluster_move_at_once()
    {
        await using var cluster = await ClusterProcesses.UpAsync();
        ImmutableArray<NodeAddress> units;
        await using (var client = await CorfuClient.ConnectAsync(cluster.ConnectionString))
        {
            await Entries.AppendAsync(client, 0, 50);
            units = client.Projection.Units;
        }

        (await CorfuTool.RunAsync("cluster", "down", "--dir", cluster.Folder)).Require();
        var peer = TestPorts.Address();
        foreach (var name in new[] { "unit-0", "unit-1", "unit-2", "sequencer" })
            await MoveAsync(Path.Combine(cluster.Folder, name), name == "unit-0" ? peer : TestPorts.Address(), 0,
                "--peer", peer);
        await cluster.UpAgainAsync();
        await using var after = await CorfuClient.ConnectAsync(cluster.ConnectionString);
        await Entries.RequireAsync(after, 50);
        await Entries.AppendAsync(after, 50, 10);
        Assert.Equal(Ids(units), Ids(after.Projection.Units));
        Assert.DoesNotContain(after.Projection.Units, unit => units.Contains(unit));
    }

    // The node itself decides about its own move, and the other node learns of it.
    [Fact]
    public async Task The_only_acceptor_and_sequencer_move_together()
    {
        using var nodes = new LocalNodes();
        var (a, b, there) = (TestPorts.Address(), TestPorts.Address(), TestPorts.Address());
        await nodes.InitAsync("a", a);
        await nodes.JoinAsync("b", a, b, "unit");
        await using (var client = await CorfuClient.ConnectAsync($"corfu://{a}"))
        {
            await Entries.AppendAsync(client, 0, 20);
            (await CorfuTool.RunAsync("reconfigure", "add-unit", "--connect", $"corfu://{a}", b)).Require();
        }

        await nodes.StopAsync("a");
        await MoveAsync(nodes.PathOf("a"), there, 0, "--peer", b);
        await nodes.StartAsync("a");
        await WaitAsync(() => IsWellAsync(there));
        await using var after = await CorfuClient.ConnectAsync($"corfu://{there}");
        await Entries.AppendAsync(after, 20, 20);
        await Entries.RequireAsync(after, 40);
        Assert.Equal(there, after.Projection.Sequencer.Endpoint.ToString());
        // The agent of the other node follows as well.
        await WaitAsync(() => IsWellAsync(b));
    }

    private static async Task<bool> IsWellAsync(string node) =>
        (await CorfuTool.RunAsync("status", "--connect", $"corfu://{node}")).Output
            .StartsWith("OK", StringComparison.Ordinal);

    [Fact]
    public async Task A_copy_of_a_node_that_runs_is_not_let_in()
    {
        await using var cluster = await ClusterProcesses.UpAsync();
        await using var client = await CorfuClient.ConnectAsync(cluster.ConnectionString);
        await Entries.AppendAsync(client, 0, 10);
        await StopAsync((await cluster.ProcessIdsAsync())["unit-1"]);
        using var nodes = new LocalNodes();
        CopyFolder(Path.Combine(cluster.Folder, "unit-1"), nodes.PathOf("copy"));
        await cluster.UpAgainAsync();
        await Entries.AppendAsync(client, 10, 10);
        await MoveAsync(nodes.PathOf("copy"), TestPorts.Address());
        await nodes.StartAsync("copy");
        await WaitAsync(() => Task.FromResult(ReadShared(nodes.PathOf("copy/unit-1.log")).Contains("that is a copy",
            StringComparison.Ordinal)));
        await Entries.AppendAsync(client, 20, 10);
        await Entries.RequireAsync(client, 30);
        Assert.Equal(client.Projection.Units, (await client.Cluster.RefreshAsync()).Units);
    }

    private static IEnumerable<NodeId> Ids(IEnumerable<NodeAddress> nodes) => nodes.Select(node => node.Id).Order();

    private static async Task<ToolResult> MoveAsync(string folder, string listen, int exitCode = 0,
        params string[] more)
    {
        var result = await CorfuTool.RunAsync(["node", "move", "--dir", folder, "--listen", listen, .. more]);
        Assert.True(result.ExitCode == exitCode, result.Output + result.Error);
        return result;
    }

    private static async Task StopAsync(int processId)
    {
        using var process = System.Diagnostics.Process.GetProcessById(processId);
        ClusterProcesses.Signal(processId, "TERM");
        await process.WaitForExitAsync();
    }

    private static void CopyFolder(string from, string to)
    {
        foreach (var folder in Directory.GetDirectories(from, "*", SearchOption.AllDirectories).Prepend(from))
            Directory.CreateDirectory(Path.Combine(to, Path.GetRelativePath(from, folder)));
        foreach (var file in Directory.GetFiles(from, "*", SearchOption.AllDirectories))
            File.Copy(file, Path.Combine(to, Path.GetRelativePath(from, file)));
    }

    private static string ReadShared(string file)
    {
        using var stream = new FileStream(file, FileMode.Open, FileAccess.Read, FileShare.ReadWrite);
        return new StreamReader(stream).ReadToEnd();
    }

    private static async Task WaitAsync(Func<Task<bool>> condition)
    {
        var began = TimeProvider.System.GetTimestamp();
        while (!await condition())
        {
            Assert.True(TimeProvider.System.GetElapsedTime(began) < Patience);
            await Task.Delay(50);
        }
    }
}
