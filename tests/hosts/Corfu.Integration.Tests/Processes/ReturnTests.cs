using Corfu.Client;
using Corfu.Integration.Tests.Support;
using Corfu.Protocol;

namespace Corfu.Integration.Tests.Processes;

/// <summary>Units that were removed, or whose log is damaged, come back as fresh ones and are taken in; there are no
/// spares.</summary>
public sealed class ReturnTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    [Fact]
    public async Task A_killed_unit_that_is_started_again_takes_a_new_identity_and_becomes_a_full_replica()
    {
        await using var cluster = await ClusterProcesses.UpAsync();
        await using var client = await CorfuClient.ConnectAsync(cluster.ConnectionString);
        await Entries.AppendAsync(client, 0, 50);
        var before = client.Projection.Units;
        await ClusterProcesses.KillAsync((await cluster.ProcessIdsAsync())["unit-0"]);
        await cluster.WaitForAsync(client, p => p.Units.Length == 2, Patience);
        await Entries.AppendAsync(client, 50, 50);
        await cluster.UpAgainAsync();
        var healed = await cluster.WaitForAsync(client, p => IsWhole(p, 3), Patience);
        Assert.Equal(2, healed.Units.Intersect(before).Count());
        await Entries.RequireAsync(client, 100);
        // Other replicas hold its entries: its data is deleted.
        await WaitAsync(
            () => Directory.GetDirectories(Path.Combine(cluster.Folder, "unit-0"), "unit.kept-*").Length == 0);
    }

    [Fact]
    public async Task Frozen_unit_that_was_removed_finds_out_without_a_restart()
    {
        await using var cluster = await ClusterProcesses.UpAsync();
        await using var client = await CorfuClient.ConnectAsync(cluster.ConnectionString);
        await Entries.AppendAsync(client, 0, 50);
        var frozen = (await cluster.ProcessIdsAsync())["unit-1"];
        ClusterProcesses.Signal(frozen, "STOP");
        try
        {
            await cluster.WaitForAsync(client, p => p.Units.Length == 2, Patience);
        }
        finally
        {
            ClusterProcesses.Signal(frozen, "CONT");
        }

        await cluster.WaitForAsync(client, p => IsWhole(p, 3), Patience);
        Assert.Equal(frozen, (await cluster.ProcessIdsAsync())["unit-1"]);
        await Entries.RequireAsync(client, 50);
    }

    [Fact]
    public async Task Damaged_unit_does_not_keep_the_cluster_down_and_is_rebuilt()
    {
        await using var cluster = await ClusterProcesses.UpAsync();
        await using (var client = await CorfuClient.ConnectAsync(cluster.ConnectionString))
            await Entries.AppendAsync(client, 0, 50);
        (await CorfuTool.RunAsync("cluster", "down", "--dir", cluster.Folder)).Require();
        FlipInFirstHeader(Path.Combine(cluster.Folder, "unit-0", "unit", "data", "log"));
        await cluster.UpAgainAsync();
        await using var after = await CorfuClient.ConnectAsync(cluster.ConnectionString);
        await Entries.RequireAsync(after, 50);
        await Entries.AppendAsync(after, 50, 10);
        await cluster.WaitForAsync(after, p => IsWhole(p, 3), Patience);
        await Entries.RequireAsync(after, 60);
    }

    private static bool IsWhole(Projection projection, int units) => projection.Active.Chains.Length == units
        && projection.Segments.All(s => s.Chains.All(c => c.FullCount == 2 && c.Replicas.Length == 2));

    // The position of the log's first record: its own check fails, and good records follow (R6).
    private static void FlipInFirstHeader(string log)
    {
        var file = Directory.EnumerateFiles(log).Where(f => Path.GetFileName(f) != "mark").Order(StringComparer.Ordinal)
            .First();
        using var stream = new FileStream(file, FileMode.Open, FileAccess.ReadWrite);
        var bytes = new byte[1 << 16];
        var read = stream.ReadAtLeast(bytes, bytes.Length, throwOnEndOfStream: false);
        var at = bytes.AsSpan(0, read).IndexOf("CFR1"u8);
        Assert.True(at >= 0);
        stream.Position = at + 16;
        stream.WriteByte((byte)(bytes[at + 16] ^ 1));
    }

    private static async Task WaitAsync(Func<bool> condition)
    {
        var began = TimeProvider.System.GetTimestamp();
        while (!condition())
        {
            Assert.True(TimeProvider.System.GetElapsedTime(began) < Patience);
            await Task.Delay(50);
        }
    }
}
