using System.Text.Json;
using Corfu.Client;
using Corfu.Hosting;
using Corfu.Integration.Tests.Support;
using Tango;
using Tango.Collections;
using static Corfu.Integration.Tests.Support.CorfuTool;

namespace Corfu.Integration.Tests.Tool;

/// <summary>The log commands against an embedded cluster: their exact output.</summary>
public sealed class LogCommandTests
{
    [Fact]
    public async Task Append_read_tail_fill_and_trim_say_exactly_this()
    {
        await using var cluster = await EmbeddedCluster.StartAsync();
        var c = cluster.ConnectionString;
        await ExpectOf("e1:0\n", "hello", "log", "append", "--connect", c, "--stream", "orders");
        await ExpectOf("e1:1\tone\ne1:2\ttwo\n", "one\ntwo\n", "log", "append", "--connect", c, "--lines");
        await ExpectOf("hello", "", "log", "read", "--connect", c, "0");
        await ExpectOf("two", "", "log", "read", "--connect", c, "e1:2");
        await ExpectOf("e1:3\nstream 16431614141586347548: 0\nstream 301: empty\n", "", "log", "tail", "--connect", c,
            "--stream", "orders", "--stream", "301");
        await ExpectOf("{\"tail\":3,\"epoch\":1}\n", "", "log", "tail", "--connect", c, "--json");
        await ExpectOf("e1:1: data\n", "", "log", "fill", "--connect", c, "1");
        await ExpectOf("", "", "log", "trim", "--connect", c, "1");

        await Refuse(1,
            "Stream 301 is in the range of Tango's objects, which a raw entry would stop. "
            + "Raw streams have names, or ids from 9223372036854775808 on.\n",
            "log", "append", "--connect", c, "--stream", "301");
        await Refuse(3, "e1:1: trimmed\n", "log", "read", "--connect", c, "1");
        await Refuse(3, "7: unwritten\n", "log", "read", "--connect", c, "7");
        await Refuse(1, "Only granted positions are filled, and this one is not.\n", "log", "fill", "--connect", c,
            "7");
    }

    [Fact]
    public async Task Many_lines_in_flight_are_all_there_once()
    {
        await using var cluster =
            await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        var lines = Enumerable.Range(0, 500).Select(i => $"line {i}").ToArray();
        var appended = (await CorfuTool.RunWithInputAsync(
            string.Join('\n', lines), "log", "append", "--connect", cluster.ConnectionString, "--lines", "--in-flight",
            "64")).Require();
        Assert.Equal(lines.Order(StringComparer.Ordinal), appended.Lines.Select(line => line.Split('\t')[1])
            .Order(StringComparer.Ordinal));
        var dump = (await CorfuTool.RunAsync("log", "dump", "--connect", cluster.ConnectionString, "--json")).Require();
        var found = dump.Lines.Select(DumpedEntry.Parse).ToDictionary(entry => $"e1:{entry.Position}",
            entry => entry.Text);
        Assert.All(appended.Lines, line => Assert.Equal(line.Split('\t')[1], found[line.Split('\t')[0]]));
    }

    [Fact]
    public async Task Dump_decodes_tango_records()
    {
        await using var cluster = await EmbeddedCluster.StartAsync();
        await using (var client = await cluster.ConnectAsync())
        await using (var runtime = new TangoRuntime(client, () => new StreamCursor(client), TimeProvider.System,
            SystemEntropy.Instance))
        {
            var names = await runtime.OpenAsync<TangoDictionary<string, int>>("names", OpenMode.Create);
            await names.SetAsync("corfu", 7);
            var outcome = await runtime.RunTransactionAsync(async _ =>
            {
                if (!(await names.TryGetAsync("corfu")).Found) throw new InvalidOperationException();
                await names.SetAsync("tango", 8);
            });
            Assert.True(outcome.IsCommitted);
        }

        var dump = (await CorfuTool.RunAsync("log", "dump", "--connect", cluster.ConnectionString, "--json")).Require();
        var records = dump.Lines.SelectMany(Records).ToList();
        Assert.Contains("""{"kind":"update","object":256,"mutator":1,"key":["corfu"],"arguments":[7]}""", records);
        var commit = Assert.Single(records,
            record => record.StartsWith("{\"kind\":\"commit\"", StringComparison.Ordinal));
        Assert.Contains("\"reads\":[{\"object\":256,\"keys\":[[\"corfu\"]]}]", commit, StringComparison.Ordinal);
        Assert.Contains("\"writes\":[{\"object\":256,\"mutator\":1,\"key\":[\"tango\"],\"arguments\":[8]}]", commit,
            StringComparison.Ordinal);

        var text = (await CorfuTool.RunAsync("log", "dump", "--connect", cluster.ConnectionString)).Require();
        Assert.Contains("    update object 256 mutator 1 key [\"corfu\"] arguments [7]", text.Lines);
    }

    private static List<string> Records(string line)
    {
        using var json = JsonDocument.Parse(line);
        return json.RootElement.TryGetProperty("records", out var records)
            ? [.. records.EnumerateArray().Select(record => record.GetRawText())]
            : [];
    }
}
