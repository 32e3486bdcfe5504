using System.Text;
using Corfu.Client;
using Corfu.Integration.Tests.Support;
using Corfu.Protocol;

namespace Corfu.Integration.Tests.Processes;

/// <summary><c>corfu log salvage</c>: what a unit's folder holds and the log has lost.</summary>
public sealed class SalvageTests
{
    [Fact]
    public async Task Entries_of_a_destroyed_chain_are_found_in_the_kept_folder()
    {
        await using var cluster = await ClusterProcesses.UpAsync(2, 1);
        NodeAddress lost;
        await using (var client = await CorfuClient.ConnectAsync(cluster.ConnectionString))
        {
            for (var i = 0; i < 20; i++)
                (await client.AppendAsync(Encoding.UTF8.GetBytes($"entry {i}"), [StreamId.FromName("a")])).Require();
            await client.TrimAsync(new LogPosition(3));
            lost = client.Projection.Units.Single(unit => unit.Id == client.Projection.Active.Chains[1].Head);
        }

        var folder = Path.Combine(cluster.Folder, "unit-1");
        var refused = await CorfuTool.RunAsync("log", "salvage", "--from", Path.Combine(folder, "unit"));
        Assert.Contains("stop the unit first", refused.Error);
        using (var process = System.Diagnostics.Process.GetProcessById((await cluster.ProcessIdsAsync())["unit-1"]))
        {
            ClusterProcesses.Signal(process.Id, "TERM");
            await process.WaitForExitAsync();
        }

        (await CorfuTool.RunAsync("unit", "format", "--dir", folder)).Require();
        await CorfuTool.RunAsync("cluster", "up", "--dir", cluster.Folder);
        (await CorfuTool.RunAsync("reconfigure", "replace-destroyed", "--connect", cluster.ConnectionString,
            $"{lost.Id}", "--accept-loss", "--by", $"{lost.Endpoint}")).Require();
        await cluster.UpAgainAsync();

        var kept = Assert.Single(Directory.GetDirectories(folder, "unit.kept-*"));
        string[] salvage = ["log", "salvage", "--connect", cluster.ConnectionString, "--from", kept];
        var before = await DumpAsync(cluster);
        var report = (await CorfuTool.RunAsync(salvage)).Require();
        // 3 was trimmed; the even positions stand on the other chain.
        Assert.Equal("lost: 9: 1 5 7 9 11 13 15 17 19", report.Lines[1]);
        var file = Path.Combine(cluster.Folder, "lost.json");
        (await CorfuTool.RunAsync([.. salvage, "--to", file])).Require();
        var entries = File.ReadLines(file).Select(DumpedEntry.Parse).ToList();
        Assert.Equal([1, 5, 7, 9, 11, 13, 15, 17, 19], entries.Select(entry => entry.Position));
        Assert.All(entries, entry => Assert.Equal($"entry {entry.Position}", entry.Text));
        Assert.Equal(1, (await CorfuTool.RunAsync([.. salvage, "--to", file])).ExitCode);
        Assert.Equal(before, await DumpAsync(cluster));

        // The other unit's entries are all there; without a cluster all of them count.
        (await CorfuTool.RunAsync("cluster", "down", "--dir", cluster.Folder)).Require();
        var all = await CorfuTool.RunAsync("log", "salvage", "--from", Path.Combine(cluster.Folder, "unit-0", "unit"));
        Assert.StartsWith("lost: 10: 0 2 4 6 8 ", all.Require().Lines[1]);
    }

    [Fact]
    public async Task Damaged_log_gives_the_whole_entries()
    {
        await using var cluster = await ClusterProcesses.UpAsync(1, 1);
        await using (var client = await CorfuClient.ConnectAsync(cluster.ConnectionString))
        {
            for (var i = 0; i < 20; i++)
                (await client.AppendAsync(Encoding.UTF8.GetBytes($"entry {i}"), [])).Require();
        }

        (await CorfuTool.RunAsync("cluster", "down", "--dir", cluster.Folder)).Require();
        var unit = Path.Combine(cluster.Folder, "unit-0", "unit");
        var log = Path.Combine(unit, "data", "log", "log.0");
        var bytes = await File.ReadAllBytesAsync(log);
        var at = bytes.AsSpan().IndexOf("entry 7"u8);
        bytes[at] ^= 1;
        await File.WriteAllBytesAsync(log, bytes);
        var report = (await CorfuTool.RunAsync("log", "salvage", "--from", unit)).Require();
        Assert.Equal("lost: 19: 0-6 8-19", report.Lines[1]);
    }

    private static async Task<string> DumpAsync(ClusterProcesses cluster) =>
        (await CorfuTool.RunAsync("log", "dump", "--connect", cluster.ConnectionString)).Require().Output;
}
