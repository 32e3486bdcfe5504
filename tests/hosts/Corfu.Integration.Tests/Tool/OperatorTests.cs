using System.Diagnostics;
using Corfu.Extensions;
using Corfu.Hosting;
using Corfu.Integration.Tests.Support;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;

namespace Corfu.Integration.Tests.Tool;

/// <summary>Messages for an operator when something is missing.</summary>
public sealed class OperatorTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(30);

    [Fact]
    public async Task Ctrl_C_ends_a_log_append_that_waits_for_input_and_reports_the_acknowledged_entries()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "needs signals");
        await using var cluster =
            await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        using var append = CorfuTool.Start("log", "append", "--connect", cluster.ConnectionString, "--lines");
        using var limit = new CancellationTokenSource(Limit);
        await append.StandardInput.WriteLineAsync("one");
        await append.StandardInput.FlushAsync(limit.Token);
        Assert.Equal("e1:0\tone", await append.StandardOutput.ReadLineAsync(limit.Token));

        // The tool's input is still open: only the signal ends it.
        ClusterProcesses.Signal(append.Id, "INT");
        var error = await append.StandardError.ReadToEndAsync(limit.Token);
        await append.WaitForExitAsync(limit.Token);
        Assert.Equal(130, append.ExitCode);
        Assert.StartsWith("Interrupted.\nAcknowledged and printed: 1. ", error, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Ctrl_C_ends_a_log_append_of_one_entry_without_an_append()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "needs signals");
        await using var cluster =
            await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        using var append = CorfuTool.Start("log", "append", "--connect", cluster.ConnectionString);
        using var limit = new CancellationTokenSource(Limit);
        await append.StandardInput.WriteAsync("half a payload");
        await append.StandardInput.FlushAsync(limit.Token);

        // The signal is handled from when the command runs: sent again until then, for nothing shows that it does.
        var ended = append.WaitForExitAsync(limit.Token);
        while (await Task.WhenAny(ended, Task.Delay(500, limit.Token)) != ended)
            ClusterProcesses.Signal(append.Id, "INT");
        await ended;
        Assert.Equal("e1:0\n", (await CorfuTool.RunAsync("log", "tail", "--connect", cluster.ConnectionString))
            .Require().Output);
    }

    [Fact]
    public async Task Status_finds_the_cluster_through_any_node_and_shows_by_exit_code_whether_appends_succeed()
    {
        await using var cluster = await EmbeddedCluster.StartAsync(
            new EmbeddedClusterOptions { Units = 2, Replicas = 2, Spares = 1, Automatic = false });
        foreach (var node in cluster.Manifest.Nodes)
        {
            var roles = await DutiesOnceKnownAsync($"corfu://{node.Endpoint}", Spare(cluster));
            Assert.Equal("spare", roles["unit"]);
            Assert.Equal("standby", roles["acceptor"]);
            var status = (await CorfuTool.RunAsync("status", "--connect", $"corfu://{node.Endpoint}")).Require();
            Assert.Equal("OK: appends succeed", status.Lines[0]);
        }

        await cluster.StopNodeAsync("unit-1");
        var down = await CorfuTool.RunAsync("status", "--connect", cluster.ConnectionString);
        Assert.Equal(1, down.ExitCode);
        var gone = cluster.Manifest.Nodes.Single(node => node.Name == "unit-1").Endpoint;
        Assert.Equal($"DOWN: appends do not succeed: the unit at {gone} does not answer", down.Lines[0]);
    }

    [Fact]
    public async Task Health_checks_answer_at_once_while_the_cluster_is_away()
    {
        await using var cluster =
            await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        var builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Services.AddCorfuClient(cluster.ConnectionString).AddTango();
        using var host = builder.Build();
        await host.StartAsync();
        await host.Services.GetRequiredService<ITangoHost>().GetRuntimeAsync();
        foreach (var node in cluster.Manifest.Nodes) await cluster.StopNodeAsync(node.Name);

        // An operation of the client would go on for longer than this.
        var health = await host.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync()
            .WaitAsync(TimeSpan.FromSeconds(10));
        Assert.Equal(HealthStatus.Unhealthy, health.Entries["corfu-client"].Status);
        Assert.Equal(HealthStatus.Unhealthy, health.Entries["tango"].Status);
    }

    private static string Spare(EmbeddedCluster cluster) =>
        cluster.Manifest.Nodes.Single(node => node.Name == "spare-0").Endpoint.ToString();

    // A node that is in no chain and no quorum learns the projection from the others' agents, within moments, and what
    // a role does from its next report.
    private static async Task<Dictionary<string, string>> DutiesOnceKnownAsync(string connection, string endpoint)
    {
        var waiting = Stopwatch.StartNew();
        while (true)
        {
            var status = await CorfuTool.RunAsync("status", "--connect", connection);
            if (status.ExitCode != 0 && waiting.Elapsed < Limit) continue;
            status.Require();
            var rows =
                status.Lines.Where(
                    line => line.StartsWith(endpoint + " ", StringComparison.Ordinal) && !line.Contains('>'));
            var duties = rows
                .Select(line => line.Split(' ', StringSplitOptions.RemoveEmptyEntries))
                .ToDictionary(words => words[1], words => words[3]);
            if (duties.ContainsKey("unit") && duties.ContainsKey("acceptor")) return duties;
        }
    }
}
