using System.Text.Json.Nodes;
using Corfu.Hosting;
using Corfu.Integration.Tests.Support;
using Craq;
using Craq.Hosting;

namespace Corfu.Integration.Tests.Tool;

/// <summary><c>corfu craq check</c>, against embedded nodes.</summary>
public sealed class CraqCheckCommandTests
{
    private static readonly byte[] s_value = "a value that no file has by chance"u8.ToArray();

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

    [Fact]
    public async Task Copy_with_turned_bytes_on_a_disk_is_named()
    {
        var folder = Directory.CreateTempSubdirectory("corfu-test-");
        try
        {
            await using var log = await EmbeddedCluster.StartAsync(
                new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
            var options = new EmbeddedCraqOptions { Folder = folder.FullName };
            string node;
            await using (var craq = await EmbeddedCraq.StartAsync(log.ConnectionString, options))
            {
                await FillAsync(craq, log);
                node = craq.Nodes.First();
            }

            Turn(Path.Combine(folder.FullName, node));
            await using var again = await EmbeddedCraq.StartAsync(log.ConnectionString, options);
            await using var client = await again.ConnectAsync();
            Assert.True((await client.Chain("orders").GetAsync("other")).IsFound);
            var versions = await CorfuTool.RunAsync("craq", "check", "-c", log.ConnectionString, "--versions");
            Assert.Equal("1 of 1 chains have equal replicas", versions.Lines[^1]);
            var told = await CorfuTool.RunAsync("craq", "check", "-c", log.ConnectionString);
            Assert.Equal(1, told.ExitCode);
            Assert.Equal("0 of 1 chains have equal replicas; 1 chains differ", told.Lines[^1]);
            var found = Assert.Single(told.Lines, line => line.Contains("(damaged)", StringComparison.Ordinal));
            Assert.StartsWith("  turned ", found, StringComparison.Ordinal);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    // No member is taken out while the nodes start again.
    private static async Task FillAsync(EmbeddedCraq craq, EmbeddedCluster cluster)
    {
        await using var log = await cluster.ConnectAsync();
        await using var admin = await CraqAdmin.OpenAsync(log);
        await admin.CreateChainAsync("orders", Placement.Default with { MinMembers = 3 });
        await using var client = await craq.ConnectAsync();
        await client.Chain("orders").PutAsync("other", new byte[10]);
        await client.Chain("orders").PutAsync("turned", s_value);
    }

    private static void Turn(string node)
    {
        var turned = 0;
        foreach (var file in Directory.EnumerateFiles(node, "*", SearchOption.AllDirectories))
        {
            using var stream = new FileStream(file, FileMode.Open, FileAccess.ReadWrite);
            var bytes = new byte[stream.Length];
            stream.ReadExactly(bytes);
            var at = bytes.AsSpan().IndexOf(s_value);
            if (at < 0) continue;
            stream.Position = at + 5;
            stream.WriteByte((byte)~bytes[at + 5]);
            turned++;
        }

        Assert.Equal(1, turned);
    }
}
