using System.Text.RegularExpressions;
using Corfu.Integration.Tests.Architecture;
using Corfu.Integration.Tests.Support;

namespace Corfu.Integration.Tests.Processes;

/// <summary>The guide of <c>docs/operations.md</c>, "A cluster on three machines", on three hosts of one
/// network.</summary>
public sealed partial class HostsTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(120);

    private static string At(int host) => $"{Hosts.AddressOf(host)}:7000";

    private static string Connect => $"corfu://{At(1)},{At(2)},{At(3)}";

    [Fact]
    public async Task Three_hosts_serve_while_one_is_away_and_take_that_one_back()
    {
        var why = Hosts.WhyNot();
        Assert.SkipWhen(why is not null, why ?? "");
        using var hosts = Hosts.Create(3);
        using var nodes = new LocalNodes();
        foreach (var (host, command) in Guide())
        {
            string[] arguments = [.. command.Split(' ').Select(word => word == "D" ? nodes.PathOf($"{host}") : word)];
            if (command == "node --config D/node.json") await nodes.StartAsync($"{host}", Hosts.On(host));
            else await RunAsync(host, arguments);
        }

        await AppendAsync(3, 0, 20);
        Assert.StartsWith("OK", await StatusAsync(2));

        // The host of the sequencer goes as a whole: no connection to it is refused, none is answered.
        Hosts.SetLink(1, up: false);
        await nodes.StopAsync("1", "KILL");
        await AppendAsync(2, 20, 20);
        Assert.Equal(Lines(0, 40), await EntriesAsync(3));
        Assert.StartsWith("DEGRADED", await StatusAsync(3));

        Hosts.SetLink(1, up: true);
        await nodes.StartAsync("1", Hosts.On(1));
        await WaitUntilWellAsync();
        await AppendAsync(1, 40, 10);
        Assert.Equal(Lines(0, 50), await EntriesAsync(1));
    }

    // The commands of the page, in its order: those of machine A run on the first host, and so on.
    private static List<(int Host, string Command)> Guide()
    {
        var page = File.ReadAllText(Path.Combine(Repository.Root, "docs", "operations.md"));
        var guide = page[page.IndexOf("## A cluster on three machines", StringComparison.Ordinal)..];
        guide = guide[..guide.IndexOf("\n## ", StringComparison.Ordinal)];
        return [.. CommandPattern().Matches(guide)
            .Select(match => (match.Groups[1].Value[0] - 'A' + 1, match.Groups[2].Value))];
    }

    [GeneratedRegex(@"^ +([ABC])\$ corfu (.*)$", RegexOptions.Multiline)]
    private static partial Regex CommandPattern();

    private static string[] Lines(int first, int count) =>
        [.. Enumerable.Range(first, count).Select(i => $"entry {i}")];

    private static async Task<ToolResult> RunAsync(int host, params string[] arguments) =>
        (await CorfuTool.RunOnAsync(Hosts.On(host), "", arguments)).Require();

    private static async Task AppendAsync(int host, int first, int count) =>
        (await CorfuTool.RunOnAsync(Hosts.On(host), string.Join('\n', Lines(first, count)) + "\n", "log", "append",
            "--lines", "--connect", Connect)).Require();

    private static async Task<string[]> EntriesAsync(int host)
    {
        var dump = await RunAsync(host, "log", "dump", "--connect", Connect, "--json");
        return [.. dump.Lines.Select(DumpedEntry.Parse).Where(entry => entry.Kind == "data").Select(e => e.Text!)];
    }

    private static async Task<string> StatusAsync(int host) =>
        (await CorfuTool.RunOnAsync(Hosts.On(host), "", "status", "--connect", Connect)).Output;

    // Three units serve, and every entry has both replicas.
    private static async Task WaitUntilWellAsync()
    {
        var began = TimeProvider.System.GetTimestamp();
        while (true)
        {
            var status = await StatusAsync(2);
            var units = status.Split('\n').Count(line => line.Contains("unit", StringComparison.OrdinalIgnoreCase)
                && line.Contains("serving", StringComparison.Ordinal));
            if (status.StartsWith("OK", StringComparison.Ordinal) && units == 3) return;
            Assert.True(TimeProvider.System.GetElapsedTime(began) < Patience, status);
            await Task.Delay(200);
        }
    }
}
