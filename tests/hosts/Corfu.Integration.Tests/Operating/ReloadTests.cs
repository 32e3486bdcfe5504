using System.Text.Json.Nodes;
using Corfu.Integration.Tests.Support;

namespace Corfu.Integration.Tests.Operating;

public sealed class ReloadTests
{
    [Fact]
    public async Task Node_takes_peers_and_limits_anew_and_names_the_rest()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "needs signals");
        using var nodes = new LocalNodes();
        await nodes.InitAsync("a", TestPorts.Address());
        Assert.Equal("nothing to change\n", (await ReloadAsync(nodes)).Require().Output);

        var config = Change(nodes, json =>
        {
            json["peers"] = new JsonArray("127.0.0.1:9");
            json["limits"] = JsonNode.Parse(
                """{ "server": { "maxConnections": 100 }, "sequencer": { "maxStreams": 9 } }""");
            json["name"] = "another";
        });
        Assert.Equal(
            "changed: peers 127.0.0.1:9\nchanged: limits.server\nneeds a restart: name\n"
            + "needs a restart: limits.sequencer\n",
            (await ReloadAsync(nodes)).Require().Output);

        File.WriteAllText(config, "{");
        var refused = await ReloadAsync(nodes);
        Assert.Equal(1, refused.ExitCode);
        Assert.StartsWith("Nothing has changed: ", refused.Error, StringComparison.Ordinal);

        await nodes.StopAsync("a");
        Assert.Equal(1, (await ReloadAsync(nodes)).ExitCode);
    }

    private static Task<ToolResult> ReloadAsync(LocalNodes nodes) =>
        CorfuTool.RunAsync("node", "reload", "--dir", nodes.PathOf("a"));

    private static string Change(LocalNodes nodes, Action<JsonNode> change)
    {
        var file = Path.Combine(nodes.PathOf("a"), "node.json");
        var json = JsonNode.Parse(File.ReadAllText(file))!;
        change(json);
        File.WriteAllText(file, json.ToJsonString());
        return file;
    }
}
