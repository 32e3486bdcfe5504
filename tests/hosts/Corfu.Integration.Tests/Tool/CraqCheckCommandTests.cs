using System.Text.Json.Nodes;
using Corfu.Hosting;
using Corfu.Integration.Tests.Support;
using Craq.Hosting;

namespace Corfu.Integration.Tests.Tool;

/// <summary><c>corfu craq check</c>, against embedded nodes.</summary>
public sealed class CraqCheckCommandTests
{
    [Fact]
    public async Task Equal_replicas_are_told_and_an_unknown_chain_fails()
    {
        await using var log = await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        await using var craq = await EmbeddedCraq.StartAsync(log.ConnectionString);
        var c = log.ConnectionString;
        (await CorfuTool.RunAsync("craq", "chain", "create", "-c", c, "orders")).Require();
        await using (var client = await craq.ConnectAsync())
        {
            for (var i = 0; i < 100; i++) await client.Chain("orders").PutAsync($"{i}", new byte[10]);
        }

        var equal = await CorfuTool.RunAsync("craq", "check", "-c", c);
        Assert.Equal(0, equal.ExitCode);
        Assert.Equal("1 of 1 chains have equal replicas", equal.Lines[^1]);
        var json = JsonNode.Parse((await CorfuTool.RunAsync("craq", "check", "-c", c, "orders", "--json")).Output)!;
        Assert.True((bool)json["equal"]!);
        Assert.Equal("orders", (string)json["chains"]![0]!["name"]!);
        Assert.Equal(2, (await CorfuTool.RunAsync("craq", "check", "-c", craq.ConnectionString)).ExitCode);
        Assert.Equal(1, (await CorfuTool.RunAsync("craq", "check", "-c", c, "nothing")).ExitCode);
    }
}
