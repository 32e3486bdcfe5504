using System.Text.RegularExpressions;
using Corfu.Integration.Tests.Architecture;
using Corfu.Integration.Tests.Support;
using Corfu.Transport;

namespace Corfu.Integration.Tests.Processes;

/// <summary>The guide of <c>docs/operations.md</c>, "A cluster on three machines", on three hosts of one
/// network.</summary>
public sealed partial class HostsTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(120);

    // The folder of the certificate with which commands connect.
    private string _certs = "";

    private static string At(int host) => $"{Hosts.AddressOf(host)}:7000";

    private static string Connect => $"corfus://{At(1)},{At(2)},{At(3)}";

    [Fact]
    public async Task Three_hosts_serve_while_one_is_away_and_take_that_one_back()
    {
        var why = Hosts.WhyNot();
        Assert.SkipWhen(why is not null, why ?? "");
        using var hosts = Hosts.Create(3);
        using var nodes = new LocalNodes();
        foreach (var (host, command) in Guide()) await DoAsync(nodes, host, command);
        // From here on as a program, which has no more rights than it needs.
        _certs = nodes.PathOf("cert-shop");
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

    // The machines of the test have one disk: each has a folder D of its own, and all others are A's.
    private async Task DoAsync(LocalNodes nodes, int host, string command)
    {
        string[] words = [.. command.Split(' ').Select(word => PathIn(nodes, host, word))];
        switch (words)
        {
            case ["scp", _, var from, var to]:
                CopyFolder(from, PathIn(nodes, to[0] - 'A' + 1, to[2..]));
                break;
            case ["export", var setting]:
                _certs = PathIn(nodes, host, setting.Split('=')[1]);
                break;
            case ["corfu", "node", "--config", _]:
                await nodes.StartAsync($"{host}", Hosts.On(host));
                break;
            case ["corfu", .. var arguments]:
                await RunAsync(host, arguments);
                break;
            default:
                Assert.Fail($"The guide has a command of another kind: {command}");
                break;
        }
    }

    private static string PathIn(LocalNodes nodes, int host, string word) =>
        word == "D" || word.StartsWith("D/", StringComparison.Ordinal) ? nodes.PathOf($"{host}") + word[1..]
        : word == "CA" || word.StartsWith("cert-", StringComparison.Ordinal) ? nodes.PathOf(word)
        : word;

    private static void CopyFolder(string from, string to)
    {
        Directory.CreateDirectory(to);
        foreach (var file in Directory.EnumerateFiles(from)) File.Copy(file, Path.Combine(to, Path.GetFileName(file)));
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

    [GeneratedRegex(@"^ +([ABC])\$ (.*)$", RegexOptions.Multiline)]
    private static partial Regex CommandPattern();

    private static string[] Lines(int first, int count) =>
        [.. Enumerable.Range(first, count).Select(i => $"entry {i}")];

    private string[] On(int host) => [.. Hosts.On(host), "env", $"{CertificateFolder.Variable}={_certs}"];

    private async Task<ToolResult> RunAsync(int host, params string[] arguments) =>
        (await CorfuTool.RunOnAsync(On(host), "", arguments)).Require();

    private async Task AppendAsync(int host, int first, int count) =>
        (await CorfuTool.RunOnAsync(On(host), string.Join('\n', Lines(first, count)) + "\n", "log", "append",
            "--lines", "--connect", Connect)).Require();

    private async Task<string[]> EntriesAsync(int host)
    {
        var dump = await RunAsync(host, "log", "dump", "--connect", Connect, "--json");
        return [.. dump.Lines.Select(DumpedEntry.Parse).Where(entry => entry.Kind == "data").Select(e => e.Text!)];
    }

    private async Task<string> StatusAsync(int host) =>
        (await CorfuTool.RunOnAsync(On(host), "", "status", "--connect", Connect)).Output;

    // Three units serve, and every entry has both replicas.
    private async Task WaitUntilWellAsync()
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
