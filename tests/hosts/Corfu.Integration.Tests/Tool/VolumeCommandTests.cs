using System.Text.Json.Nodes;
using Corfu.Hosting;
using Corfu.Integration.Tests.Support;
using Salus.Hosting;

namespace Corfu.Integration.Tests.Tool;

/// <summary><c>corfu volume</c> and <c>corfu salus status</c>, against embedded nodes.</summary>
public sealed class VolumeCommandTests : IAsyncLifetime
{
    private EmbeddedCluster _log = null!;
    private EmbeddedSalus _salus = null!;

    public async ValueTask InitializeAsync()
    {
        _log = await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        _salus = await EmbeddedSalus.StartAsync(_log.ConnectionString);
    }

    public async ValueTask DisposeAsync()
    {
        await _salus.DisposeAsync();
        await _log.DisposeAsync();
    }

    [Fact]
    public async Task Volume_is_created_and_shown_and_deleted()
    {
        var made = Json(await RunAsync("create", "disk1", "--size", "64M", "--region", "16M", "--json"));
        var regions = made["regions"]!.AsArray();
        Assert.Equal(("disk1", 64L << 20, 4096, 16L << 20, 3, 4), ((string)made["name"]!, (long)made["size"]!,
            (int)made["blockSize"]!, (long)made["regionSize"]!, (int)made["copies"]!, regions.Count));
        Assert.All(regions, region => Assert.Equal(3, region!["members"]!.AsArray().Count));
        var taken = await RunAsync("create", "disk1", "--size", "64M");
        Assert.Equal(1, taken.ExitCode);
        Assert.Contains("there is a volume disk1", taken.Error, StringComparison.Ordinal);

        var listed = (await RunAsync("list")).Require().Lines;
        Assert.StartsWith("VOLUME", listed[0], StringComparison.Ordinal);
        Assert.StartsWith("disk1", listed[1], StringComparison.Ordinal);
        var nodes = Json(await CorfuTool.RunAsync("salus", "status", "-c", _log.ConnectionString, "--json"));
        Assert.Equal(3, nodes["nodes"]!.AsArray().Count);
        Assert.Equal("disk1", (string)nodes["volumes"]!.AsArray().Single()!);

        Assert.Equal("deleted", (await RunAsync("delete", "disk1")).Require().Lines.Single());
        Assert.Empty(JsonNode.Parse((await RunAsync("list", "--json")).Require().Output)!.AsArray());
    }

    [Theory]
    [InlineData("needs as many", "create", "v", "--size", "64M")]
    [InlineData("There is no volume", "status", "v")]
    [InlineData("There is no volume", "delete", "v")]
    [InlineData("There is no volume", "snapshot", "v")]
    [InlineData("There is no volume", "snapshot", "v", "s")]
    [InlineData("There is no volume", "check", "v")]
    [InlineData("There is no volume", "serve", "v", "--listen", "127.0.0.1:0")]
    [InlineData("There is no snapshot", "serve", "v@s", "--listen", "127.0.0.1:0")]
    [InlineData("There is no volume", "recover", "v", "--accept-loss")]
    public async Task Command_that_cannot_be_done_says_why(string why, params string[] arguments)
    {
        if (arguments[0] == "create") await _salus.StopNodeAsync(_salus.Nodes.Keys.First());
        var refused = await RunAsync(arguments);
        Assert.Equal(1, refused.ExitCode);
        Assert.Contains(why, refused.Error, StringComparison.Ordinal);
    }

    private Task<ToolResult> RunAsync(params string[] arguments) =>
        CorfuTool.RunAsync(["volume", arguments[0], "-c", _log.ConnectionString, .. arguments[1..]]);

    private static JsonObject Json(ToolResult result) => JsonNode.Parse(result.Require().Output)!.AsObject();
}
