using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Corfu.Hosting;
using Corfu.Integration.Tests.Support;

namespace Corfu.Integration.Tests.Processes;

/// <summary><c>corfu cluster up</c> where not everything is as it should be, and where there is to be more of
/// it.</summary>
public sealed class ClusterUpTests
{
    [Fact]
    public async Task A_log_file_that_cannot_be_written_leaves_the_node_serving()
    {
        Assert.SkipUnless(File.Exists("/dev/full"), "needs /dev/full");
        await using var cluster = await ClusterProcesses.UpAsync(units: 1, replicas: 1);
        Assert.Matches(new Regex(@"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z (info|warn) Corfu\."),
            await FirstLineAsync(cluster, "unit-0"));
        (await CorfuTool.RunAsync("cluster", "down", "--dir", cluster.Folder)).Require();

        // A full disk for one, a folder in its place for the other.
        Configure(cluster, "unit-0", config => config["log"] = "/dev/full");
        Configure(cluster, "sequencer", config => config["log"] = "taken");
        Directory.CreateDirectory(Path.Combine(cluster.Folder, "sequencer", "taken"));
        await cluster.UpAgainAsync();
        for (var i = 0; i < 2; i++)
        {
            (await CorfuTool.RunWithInputAsync("entry", "log", "append", "--connect", cluster.ConnectionString))
                .Require();

            // Nodes that come and go cause most log lines.
            await ClusterProcesses.KillAsync((await cluster.ProcessIdsAsync())["sequencer"]);
            await cluster.UpAgainAsync();
        }

        Assert.Equal(2, (await cluster.ProcessIdsAsync()).Count);
    }

    [Fact]
    public async Task A_node_that_cannot_start_keeps_no_other_from_starting()
    {
        await using var cluster = await ClusterProcesses.UpAsync("--units", "2", "--replicas", "1", "--spares", "1",
            "--manual");
        (await CorfuTool.RunAsync("cluster", "down", "--dir", cluster.Folder)).Require();
        var config = Path.Combine(cluster.Folder, "spare-0", "node.json");
        var sound = await File.ReadAllTextAsync(config);
        await File.WriteAllTextAsync(config, "{");

        var up = (await CorfuTool.RunAsync("cluster", "up", "--dir", cluster.Folder)).Require();
        Assert.Equal("OK: appends succeed", up.Lines[^1]);
        Assert.StartsWith("spare-0: ", up.Error, StringComparison.Ordinal);
        Assert.Contains($"corfu cluster up --dir {cluster.Folder}", up.Error, StringComparison.Ordinal);
        Assert.Equal(["sequencer", "unit-0", "unit-1"], (await cluster.ProcessIdsAsync()).Keys.Order());

        await File.WriteAllTextAsync(config, sound);
        Assert.Equal("", (await cluster.UpAgainAsync()).Error);
        Assert.Equal(4, (await cluster.ProcessIdsAsync()).Count);
    }

    [Fact]
    public async Task Greater_numbers_add_nodes_to_a_running_cluster()
    {
        await using var cluster = await ClusterProcesses.UpAsync(units: 2, replicas: 2);
        await cluster.UpAgainAsync("--units", "3", "--sequencers", "2");
        (await CorfuTool.RunAsync("cluster", "add-spare", "--dir", cluster.Folder)).Require();
        var duties = await DutiesAsync(cluster);
        Assert.Equal("serving", duties["unit-2 unit"]);
        Assert.Equal("standby", duties["sequencer-1 sequencer"]);
        Assert.Equal("spare", duties["spare-0 unit"]);
        Assert.Equal(["sequencer", "sequencer-1", "spare-0", "unit-0", "unit-1", "unit-2"],
            (await cluster.ProcessIdsAsync()).Keys.Order());

        // Both commands report the same of a role, once every node has played the newest membership.
        var names = ClusterFolder.Open(cluster.Folder).Manifest.Nodes
            .ToDictionary(node => node.Endpoint.ToString(), node => node.Name);
        while (!(await StatedAsync()).ToHashSet().SetEquals(await DutiesAsync(cluster)))
            await Task.Delay(100, TestContext.Current.CancellationToken);

        var fewer = await CorfuTool.RunAsync("cluster", "up", "--dir", cluster.Folder, "--units", "1");
        Assert.Equal(2, fewer.ExitCode);
        fewer = await CorfuTool.RunAsync("cluster", "up", "--dir", cluster.Folder, "--units", "2");
        Assert.Equal(1, fewer.ExitCode);
        Assert.Contains("remove-unit", fewer.Error, StringComparison.Ordinal);

        async Task<IEnumerable<KeyValuePair<string, string>>> StatedAsync()
        {
            var status = (await CorfuTool.RunAsync("status", "--connect", cluster.ConnectionString, "--json"))
                .Require();
            return JsonNode.Parse(status.Output)!["nodes"]!.AsArray()
                .Where(static node => (string)node!["role"]! != "agent")
                .Select(node => KeyValuePair.Create(
                    $"{names[(string)node!["endpoint"]!]} {(string)node["role"]!}", (string)node["duty"]!));
        }
    }

    [Fact]
    public async Task Every_node_serves_ZooKeeper_at_a_port_that_the_summary_names()
    {
        await using var cluster = await ClusterProcesses.UpAsync("--units", "1", "--replicas", "1", "--zookeeper");
        var again = await cluster.UpAgainAsync();
        var line = Assert.Single(again.Lines, line => line.StartsWith("zookeeper: ", StringComparison.Ordinal));
        var addresses = line["zookeeper: ".Length..].Split(',').Select(IPEndPoint.Parse).ToList();
        Assert.Equal(2, addresses.Count);
        // A front end that still reads its tree closes connections without an answer.
        foreach (var address in addresses)
        {
            while (await WordAsync(address, "isro") is var answer && answer != "rw") Assert.Equal("", answer);
        }

        var state = (await CorfuTool.RunAsync("cluster", "status", "--dir", cluster.Folder, "--json")).Require();
        Assert.Equal(string.Join(',', addresses), (string)JsonNode.Parse(state.Output)!["zooKeeper"]!);
        (await CorfuTool.RunAsync("cluster", "down", "--dir", cluster.Folder)).Require();
        await Assert.ThrowsAsync<SocketException>(() => WordAsync(addresses[0], "isro"));
    }

    [Fact]
    public async Task Formatted_unit_comes_back_without_loss()
    {
        await using var cluster = await ClusterProcesses.UpAsync();
        for (var i = 0; i < 6; i++)
            (await CorfuTool.RunWithInputAsync($"entry {i}", "log", "append", "--connect", cluster.ConnectionString))
                .Require();
        var node = Path.Combine(cluster.Folder, "unit-1");
        var running = await CorfuTool.RunAsync("unit", "format", "--dir", node);
        Assert.Equal(1, running.ExitCode);
        Assert.Contains("in use by another process", running.Error, StringComparison.Ordinal);
        (await CorfuTool.RunAsync("cluster", "down", "--dir", cluster.Folder)).Require();

        var formatted = (await CorfuTool.RunAsync("unit", "format", "--dir", node)).Require();
        var kept = formatted.Lines[1].Split(" is in ")[1];
        Assert.True(File.Exists(Path.Combine(kept, "identity.json")));

        // Cut short before the configuration was replaced, and given again: the same identity.
        var config = Path.Combine(node, "node.json");
        var after = await File.ReadAllTextAsync(config);
        var ids = formatted.Lines[0].Split(' ').Where(word => Guid.TryParse(word, out _)).ToArray();
        await File.WriteAllTextAsync(config, after.Replace(ids[0], ids[1], StringComparison.Ordinal));
        (await CorfuTool.RunAsync("unit", "format", "--dir", node)).Require();
        Assert.Equal(after, await File.ReadAllTextAsync(config));

        await cluster.UpAgainAsync();
        Assert.Contains((await DutiesAsync(cluster))["unit-1 unit"], new[] { "spare", "joining", "serving" });
        for (var i = 0; i < 6; i++)
            Assert.Equal($"entry {i}",
                (await CorfuTool.RunAsync("log", "read", "--connect", cluster.ConnectionString, $"{i}"))
                    .Require().Output);
    }

    [Fact]
    public async Task Folder_that_is_neither_empty_nor_a_clusters_is_refused_and_left_untouched()
    {
        using var folder = new TempFolder();
        await File.WriteAllTextAsync(folder.File("letters.txt"), "somebody's");
        var up = await CorfuTool.RunAsync("cluster", "up", "--dir", folder.Path);
        Assert.Equal(1, up.ExitCode);
        Assert.StartsWith($"The folder {folder.Path} is not empty and holds no cluster: letters.txt is in it.",
            up.Error, StringComparison.Ordinal);
        Assert.Equal([folder.File("letters.txt")], Directory.EnumerateFileSystemEntries(folder.Path));
    }

    [Fact]
    public async Task Colocated_sequencers_run_in_the_processes_of_units()
    {
        await using var cluster = await ClusterProcesses.UpAsync("--units", "2", "--colocate", "--sequencers", "3");
        var ids = await cluster.ProcessIdsAsync();
        Assert.Equal(["sequencer-2", "unit-0", "unit-1"], ids.Keys.Order());
        var duties = await DutiesAsync(cluster);
        Assert.Equal("serving", duties["unit-0 unit"]);
        Assert.Equal("serving", duties["unit-0 sequencer"]);
        Assert.Equal("standby", duties["unit-1 sequencer"]);
        Assert.Equal("standby", duties["sequencer-2 sequencer"]);
        (await CorfuTool.RunWithInputAsync("entry", "log", "append", "--connect", cluster.ConnectionString)).Require();

        // A unit that is added has a process without a sequencer, and so has a sequencer without a unit.
        await cluster.UpAgainAsync("--units", "3", "--sequencers", "4", "--colocate");
        duties = await DutiesAsync(cluster);
        Assert.Equal(["acceptor", "sequencer", "unit"],
            duties.Keys.Where(role => role.StartsWith("unit-0 ", StringComparison.Ordinal)).Select(RoleOf).Order());
        Assert.Equal(["unit"],
            duties.Keys.Where(role => role.StartsWith("unit-2 ", StringComparison.Ordinal)).Select(RoleOf));
        Assert.Equal("standby", duties["sequencer-3 sequencer"]);

        // All of them end, and begin again with the same roles.
        var down = (await CorfuTool.RunAsync("cluster", "down", "--dir", cluster.Folder)).Require();
        Assert.Equal(["stopped sequencer-2", "stopped sequencer-3", "stopped unit-0", "stopped unit-1",
            "stopped unit-2"], down.Lines.Order());
        await cluster.UpAgainAsync();
        Assert.Equal(duties.Keys.Order(), (await DutiesAsync(cluster)).Keys.Order());
        (await CorfuTool.RunWithInputAsync("entry", "log", "append", "--connect", cluster.ConnectionString)).Require();

        static string RoleOf(string role) => role.Split(' ')[1];
    }

    private static async Task<Dictionary<string, string>> DutiesAsync(ClusterProcesses cluster)
    {
        var result = (await CorfuTool.RunAsync("cluster", "status", "--dir", cluster.Folder, "--json")).Require();
        return JsonNode.Parse(result.Output)!["roles"]!.AsArray().ToDictionary(
            role => $"{(string)role!["node"]!} {(string)role["role"]!}", role => (string)role!["duty"]!);
    }

    // A connection that is closed has no answer.
    private static async Task<string> WordAsync(IPEndPoint address, string word)
    {
        using var client = new TcpClient();
        try
        {
            await client.ConnectAsync(address);
            await using var stream = client.GetStream();
            await stream.WriteAsync(Encoding.ASCII.GetBytes(word));
            using var reader = new StreamReader(stream);
            return await reader.ReadToEndAsync();
        }
        catch (Exception e) when (e is IOException or SocketException { SocketErrorCode: SocketError.ConnectionReset })
        {
            return "";
        }
    }

    private static async Task<string> FirstLineAsync(ClusterProcesses cluster, string node)
    {
        using var log = new StreamReader(new FileStream(
            Path.Combine(cluster.Folder, node, node + ".log"), FileMode.Open, FileAccess.Read, FileShare.ReadWrite));
        return await log.ReadLineAsync() ?? "";
    }

    private static void Configure(ClusterProcesses cluster, string node, Action<JsonObject> change)
    {
        var path = Path.Combine(cluster.Folder, node, "node.json");
        var config = JsonNode.Parse(File.ReadAllText(path))!.AsObject();
        change(config);
        File.WriteAllText(path, config.ToJsonString(new JsonSerializerOptions { WriteIndented = true }));
    }
}
