using System.Globalization;
using Corfu.Hosting;
using Corfu.Integration.Tests.Support;

namespace Corfu.Integration.Tests.Processes;

/// <summary>SIGKILL to real processes in the middle of a run. (The page cache survives it: this is no power cut, see
/// docs/testing-faults.md.)</summary>
public sealed class KillTests
{
    private const int Lines = 400;

    [Theory]
    [InlineData("unit-0")]
    [InlineData("sequencer")]
    [InlineData("unit-0 unit-1 unit-2 sequencer")]
    public async Task Connected_client_goes_on_after_a_kill_and_a_restart_without_loss(
        string victims)
    {
        await using var cluster = await ClusterProcesses.UpAsync();
        var ids = await cluster.ProcessIdsAsync();
        var killed = victims.Split(' ').Select(victim => ids[victim]).ToArray();
        var acknowledged = await AppendWhileAsync(cluster, "first", () => ClusterProcesses.KillAsync(killed), cluster);
        await RequireAllAsync(cluster, acknowledged);
        Assert.Equal(Lines, acknowledged.Count);
    }

    [Fact]
    public async Task Cluster_killed_as_a_whole_and_started_again_loses_no_acknowledged_entry()
    {
        await using var cluster = await ClusterProcesses.UpAsync();
        var connection = cluster.ConnectionString;
        var ids = await cluster.ProcessIdsAsync();
        Assert.Equal(4, ids.Count);
        var acknowledged = await AppendWhileAsync(cluster, "first", () => ClusterProcesses.KillAsync(ids.Values), null);
        Assert.NotEmpty(acknowledged);

        await cluster.UpAgainAsync();
        Assert.Equal(connection, cluster.ConnectionString);
        await RequireAllAsync(cluster, acknowledged);
        var more = await CorfuTool.RunWithInputAsync("again\n", "log", "append", "--connect", cluster.ConnectionString,
            "--lines");
        Assert.Equal("again", more.Require().Lines.Single().Split('\t')[1]);
    }

    [Fact]
    public async Task A_second_process_on_a_data_folder_is_refused_and_the_first_goes_on()
    {
        await using var cluster = await ClusterProcesses.UpAsync(units: 1, replicas: 1);
        var id = (await cluster.ProcessIdsAsync())["unit-0"];
        var second = await CorfuTool.RunAsync("node", "--config", Path.Combine(cluster.Folder, "unit-0", "node.json"));
        Assert.Equal(1, second.ExitCode);
        Assert.Equal(
            $"The folder {Path.Combine(cluster.Folder, "unit-0")} is in use by another process (process {id}).\n",
            second.Error);
        (await CorfuTool.RunWithInputAsync("x", "log", "append", "--connect", cluster.ConnectionString)).Require();
    }

    [Fact]
    public async Task The_embedded_cluster_and_the_processes_share_the_folder_one_after_the_other()
    {
        using var folder = new TempFolder();
        var options = new EmbeddedClusterOptions { Folder = folder.Path, Units = 1, Replicas = 1 };
        await using (var embedded = await EmbeddedCluster.StartAsync(options))
        {
            await using var client = await embedded.ConnectAsync();
            (await client.AppendAsync("embedded"u8.ToArray(), [])).Require();
            var refused = await CorfuTool.RunAsync("cluster", "up", "--dir", folder.Path);
            Assert.Equal(1, refused.ExitCode);
            Assert.Contains("in use", refused.Error, StringComparison.Ordinal);
        }

        try
        {
            var up = (await CorfuTool.RunAsync("cluster", "up", "--dir", folder.Path)).Require();
            var read = await CorfuTool.RunAsync("log", "read", "--connect", up.Lines[0], "0");
            Assert.Equal("embedded", read.Require().Output);
        }
        finally
        {
            await CorfuTool.RunAsync("cluster", "down", "--dir", folder.Path);
        }
    }

    [Fact]
    public async Task Up_leaves_running_processes_alone_and_down_ends_all()
    {
        await using var cluster = await ClusterProcesses.UpAsync(units: 1, replicas: 1);
        var before = await cluster.ProcessIdsAsync();
        await cluster.UpAgainAsync();
        Assert.Equal(before.OrderBy(id => id.Key), (await cluster.ProcessIdsAsync()).OrderBy(id => id.Key));
        var down = await CorfuTool.RunAsync("cluster", "down", "--dir", cluster.Folder);
        Assert.Equal(["stopped sequencer", "stopped unit-0"], down.Require().Lines.Order());
        Assert.Empty(await cluster.ProcessIdsAsync());
        Assert.Equal(1, (await CorfuTool.RunAsync("cluster", "status", "--dir", cluster.Folder)).ExitCode);
    }

    // Appends lines through the tool, runs the fault once some are acknowledged, and, if the cluster is given, brings
    // it up again under the running appends. Answers what was acknowledged, position and line.
    private static async Task<List<string>> AppendWhileAsync(
        ClusterProcesses cluster, string prefix, Func<Task> fault, ClusterProcesses? revive)
    {
        const int FaultAfter = Lines / 4;
        using var append = CorfuTool.Start("log", "append", "--connect", cluster.ConnectionString, "--lines",
            "--in-flight", "8");
        var errors = append.StandardError.ReadToEndAsync();
        List<string> acknowledged = [];
        try
        {
            var writing = WriteAsync();
            Task? disturbance = null;
            while (await append.StandardOutput.ReadLineAsync().WaitAsync(TimeSpan.FromSeconds(90)) is { } line)
            {
                acknowledged.Add(line);
                if (acknowledged.Count == FaultAfter) disturbance = DisturbAsync();
            }

            await writing;
            if (disturbance is not null) await disturbance;
        }
        finally
        {
            if (!append.HasExited && revive is null) append.Kill();
        }

        await errors;
        return acknowledged;

        async Task WriteAsync()
        {
            try
            {
                for (var i = 0; i < Lines; i++)
                    await append.StandardInput.WriteLineAsync(string.Create(CultureInfo.InvariantCulture,
                        $"{prefix} {i}"));
                append.StandardInput.Close();
            }
            catch (IOException)
            {
                // The tool has given up, which the number of acknowledged lines shows.
            }
        }

        async Task DisturbAsync()
        {
            await fault();
            if (revive is not null) await revive.UpAgainAsync();
            else append.Kill();
        }
    }

    private static async Task RequireAllAsync(ClusterProcesses cluster, List<string> acknowledged)
    {
        var dump = (await CorfuTool.RunAsync("log", "dump", "--connect", cluster.ConnectionString, "--json")).Require();
        var found = dump.Lines.Select(DumpedEntry.Parse).Where(entry => entry.Kind == "data")
            .ToDictionary(entry => entry.Position, entry => entry.Text);
        foreach (var line in acknowledged)
        {
            var parts = line.Split('\t');
            var position = long.Parse(parts[0].Split(':')[^1], CultureInfo.InvariantCulture);
            Assert.Equal(parts[1], found.GetValueOrDefault(position));
        }

        Assert.Equal(acknowledged.Count, acknowledged.Distinct().Count());
    }
}
