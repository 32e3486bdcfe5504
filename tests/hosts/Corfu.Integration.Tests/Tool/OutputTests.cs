using System.Globalization;
using Corfu.Client;
using Corfu.Hosting;
using Corfu.Integration.Tests.Support;
using Microsoft.Extensions.Logging;

namespace Corfu.Integration.Tests.Tool;

/// <summary>Texts that others chose, as the tool prints them and as nodes log them.</summary>
public sealed class OutputTests
{
    private const string Hostile = "a\nepoch 9: forged\u001b[2J\u202ez";
    private const string Harmless = "a\\nepoch 9: forged\\u001b[2J\\u202ez";

    [Fact]
    public async Task Printed_text_cannot_move_the_cursor() => await CorfuTool.Refuse(
        2, "Unrecognized command or argument 'non\\u001b[2Jsense'.\nSee 'corfu --help'.\n", "non\u001b[2Jsense");

    [Fact]
    public async Task A_reason_is_one_line_in_the_history_and_in_the_status()
    {
        await using var cluster = await EmbeddedCluster.StartAsync(
            new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        await using var client = await cluster.ConnectAsync();
        var before = client.Projection.Epoch;
        await client.Cluster.ReconfigureAsync(p => p.Epoch > before ? null : Membership.Of(p), Hostile);
        var connect = cluster.ConnectionString;
        var history = (await CorfuTool.RunAsync("history", "--connect", connect)).Require().Output;
        Assert.Single(history.Split('\n'), line => line.EndsWith(Harmless, StringComparison.Ordinal));
        var status = (await CorfuTool.RunAsync("status", "--connect", connect)).Output;
        Assert.Single(status.Split('\n'),
            line => line == string.Create(CultureInfo.InvariantCulture, $"epoch {before.Next.Value}: {Harmless}"));
    }

    [Fact]
    public void An_event_is_one_line_of_a_nodes_log_and_no_line_of_an_exception_looks_like_one()
    {
        using var folder = new TempFolder();
        var path = folder.File("node.log");
        using (var loggers = LoggerFactory.Create(logging => logging.AddNodeLogFile(path, Assert.Fail)))
        {
            var error = new InvalidOperationException("inner\n2026-01-01T00:00:00.000000Z info Test: forged");
            loggers.CreateLogger("Test").LogError(error, "{Text}", Hostile);
        }

        var lines = File.ReadAllLines(path);
        Assert.EndsWith($"Z eror Test: {Harmless}", lines[0], StringComparison.Ordinal);
        Assert.Contains("  2026-01-01T00:00:00.000000Z info Test: forged", lines);
        Assert.All(lines[1..], line => Assert.StartsWith("  ", line, StringComparison.Ordinal));
    }
}
