using Corfu.Client;
using Corfu.Hosting;
using Corfu.Integration.Tests.Support;
using Tango;
using Tango.Collections;

namespace Corfu.Integration.Tests.Backup;

/// <summary>Objects whose history is trimmed, in a backup.</summary>
public sealed class ObjectBackupTests
{
    private const int MostRounds = 500;
    private const int Keys = 20;

    private static readonly TangoOptions s_checkpoints = new()
    {
        Checkpoints = new CheckpointPolicy { Updates = 40 },
        NewLogMaxSpan = 10,
        // An entry for each update, and all of a round at once.
        MaxBatchRecords = 1,
        MaxAppendsInFlight = Keys,
    };

    [Fact]
    public async Task R22_a_backup_of_a_trimmed_log_restores_to_objects_that_open_from_checkpoints()
    {
        using var folder = new TempFolder();
        await using var old = await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Units = 2, Replicas = 1 });
        await using var fresh =
            await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        var written = await WriteUntilTrimmedAsync(old);
        (await CorfuTool.RunAsync("backup", "--connect", old.ConnectionString, "--to", folder.File("b"))).Require();
        (await CorfuTool.RunAsync("restore", "--from", folder.File("b"), "--connect", fresh.ConnectionString))
            .Require();

        await using var client = await fresh.ConnectAsync();
        var first = Assert.Single(await client.ReadManyAsync([LogPosition.Zero]));
        Assert.Equal(PageState.Trimmed, first.State);
        await using var runtime = new TangoRuntime(client, new TangoOptions { Checkpoints = null });
        var stock = await runtime.OpenAsync<TangoDictionary<int, int>>("stock", OpenMode.Create);
        var (left, right) = await OpenPairAsync(runtime);
        Assert.Equal(written, (await stock.SnapshotAsync()).OrderBy(item => item.Key));
        Assert.Equal(("moved 0", "moved 0"), (await left.ReadAsync(), await right.ReadAsync()));

        // Versions and the trim point are those of before, and the log goes on.
        await using (var transaction = runtime.BeginTx())
        {
            await left.WriteAsync($"{(await stock.TryGetAsync(1)).Value}");
            Assert.True((await transaction.EndTxAsync()).IsCommitted);
        }

        Assert.True((await runtime.Log.ReadTrimPointAsync()).Released > LogPosition.Zero);
        Assert.Equal($"{written[1]}", await left.ReadAsync());
        Assert.True(await runtime.Checkpoints.WriteAsync(stock) > LogPosition.Zero);
    }

    /// <summary>Until the log's first positions are trimmed, objects that are hardly written included.</summary>
    private static async Task<Dictionary<int, int>> WriteUntilTrimmedAsync(EmbeddedCluster cluster)
    {
        await using var client = await cluster.ConnectAsync();
        await using var runtime = new TangoRuntime(client, s_checkpoints);
        var stock = await runtime.OpenAsync<TangoDictionary<int, int>>("stock", OpenMode.Create);
        var (left, right) = await OpenPairAsync(runtime);
        await using (var transaction = runtime.BeginTx())
        {
            var seen = $"moved {(await stock.TryGetAsync(1)).Value}";
            await left.WriteAsync(seen);
            await right.WriteAsync(seen);
            Assert.True((await transaction.EndTxAsync()).IsCommitted);
        }

        for (var round = 0; round < MostRounds; round++)
        {
            var written = Enumerable.Range(0, Keys).ToDictionary(key => key, key => (round * Keys) + key);
            await Task.WhenAll(written.Select(item => stock.SetAsync(item.Key, item.Value).AsTask()));
            if ((await client.Cluster.FindExtentAsync()).TrimMark > LogPosition.Zero) return written;
        }

        throw new InvalidOperationException("Nothing was trimmed.");
    }

    private static async Task<(TangoRegister<string> Left, TangoRegister<string> Right)> OpenPairAsync(
        TangoRuntime runtime)
    {
        TangoRegister<string> left = null!, right = null!;
        await runtime.OpenGroupAsync("pair", group =>
        {
            left = group.Add<TangoRegister<string>>("left");
            right = group.Add<TangoRegister<string>>("right");
        });
        return (left, right);
    }
}
