using System.Text.Json.Nodes;
using Corfu.Hosting;
using Corfu.Integration.Tests.Support;
using Craq.Hosting;

namespace Corfu.Integration.Tests.Tool;

/// <summary><c>corfu craq chain</c>, against embedded nodes.</summary>
public sealed class CraqChainCommandTests
{
    [Fact]
    public async Task Path_of_values_is_chosen_with_a_chain_and_later_and_is_shown()
    {
        await using var log = await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        await using var craq = await EmbeddedCraq.StartAsync(log.ConnectionString);
        var c = log.ConnectionString;
        Assert.Equal("relay", await ValuesAsync("create", "-c", c, "pictures", "--values", "relay", "--json"));
        Assert.Equal("chain", await ValuesAsync("create", "-c", c, "orders", "--json"));
        await OpenedAsync(c, "orders");
        Assert.Equal("relay", await ValuesAsync("set", "-c", c, "orders", "--values", "relay", "--json"));
        await OpenedAsync(c, "orders");
        // An option that is not named stays.
        Assert.Equal("relay", await ValuesAsync("set", "-c", c, "orders", "--protocol", "cr", "--json"));
        var shown = (await CorfuTool.RunAsync("craq", "chain", "show", "-c", c, "pictures")).Require().Lines;
        Assert.EndsWith("VALUES", shown[0], StringComparison.Ordinal);
        Assert.EndsWith("relay", shown[1], StringComparison.Ordinal);
        var refused = await CorfuTool.RunAsync("craq", "chain", "create", "-c", c, "x", "--values", "multicast");
        Assert.Equal(2, refused.ExitCode);
    }

    private static async Task<string> ValuesAsync(params string[] arguments)
    {
        var result = await CorfuTool.RunAsync(["craq", "chain", .. arguments]);
        return (string)JsonNode.Parse(result.Require().Output)!["values"]!;
    }

    // The next change of a chain is refused until its epoch is recorded open.
    private static async Task OpenedAsync(string c, string chain)
    {
        for (var tries = 0; tries < 50; tries++)
        {
            var shown = await CorfuTool.RunAsync("craq", "chain", "show", "-c", c, chain, "--json");
            if ((bool)JsonNode.Parse(shown.Require().Output)!["open"]!) return;
        }

        Assert.Fail($"The chain {chain} did not open.");
    }
}
