using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Backup.Tests;

public sealed class RestoreTests
{
    private static async Task<MemoryFolder> BackupAsync(CorfuClient client)
    {
        var folder = new MemoryFolder();
        await new LogBackup(client, folder, TimeProvider.System, Logs.Small).RunAsync();
        return folder;
    }

    private static async Task RestoreAsync(IBackupFolder folder, CorfuClient target, bool promote = true) =>
        await new LogRestore(await BackupReader.OpenAsync(folder), target, TimeProvider.System).RunAsync(promote);

    [Fact]
    public async Task Restored_positions_equal_the_sources()
    {
        await using var old = await TestCluster.StartAsync(3, 2);
        await using var fresh = await TestCluster.StartAsync(2, 2, number: 2);
        var source = await old.FillAsync();
        var folder = await BackupAsync(source);
        var target = fresh.Client();
        await RestoreAsync(folder, target);
        Assert.Equal((await source.AllAsync()).Lines(), (await target.AllAsync()).Lines());
        Assert.Equal((await source.CheckAsync([])).Tail, (await target.CheckAsync([])).Tail);
        Assert.Equal((await source.Cluster.FindExtentAsync()).TrimMark,
            (await target.Cluster.FindExtentAsync()).TrimMark);
        Assert.Equal(await source.WalkAsync(Logs.Even, 8), await target.WalkAsync(Logs.Even, 8));
    }

    /// <summary>An epoch means nothing outside its cluster: a restored entry carries that of its writing
    /// here.</summary>
    [Fact]
    public async Task Entries_get_an_epoch_of_the_new_cluster()
    {
        await using var old = await TestCluster.StartAsync(1, 1);
        await using var fresh = await TestCluster.StartAsync(1, 1, number: 2);
        var source = await old.FillAsync();
        for (var i = 0; i < 5; i++) await source.Cluster.ReconfigureAsync(Membership.Of, "test");
        await source.AppendAsync(100, 3);
        var target = fresh.Client();
        await RestoreAsync(await BackupAsync(source), target);
        Assert.Equal(6, (await source.AllAsync())[^1].Entry!.Position.Epoch.Value);
        Assert.All((await target.AllAsync()).Where(p => p.Entry is not null),
            p => Assert.True(p.Entry!.Position.Epoch <= target.Projection.Epoch));
        Assert.Equal((await source.AllAsync()).Lines(), (await target.AllAsync()).Lines());
    }

    [Fact]
    public async Task R22_a_restored_log_knows_the_streams_that_were_trimmed()
    {
        await using var old = await TestCluster.StartAsync(3, 2);
        await using var fresh = await TestCluster.StartAsync(2, 2, number: 2);
        var folder = await BackupAsync(await old.TrimStreamsAsync());
        Assert.Contains(BackupFile.StreamsNameOf(24), folder.List());
        await RestoreAsync(folder, fresh.Client());
        await Logs.AssertTrimmedAsync(fresh.Client());
    }

    /// <summary>Version 1 did not have them: the log comes back all the same.</summary>
    [Fact]
    public async Task A_backup_of_the_first_version_is_restored_and_continued()
    {
        await using var old = await TestCluster.StartAsync(3, 2);
        await using var fresh = await TestCluster.StartAsync(2, 2, number: 2);
        var source = await old.TrimStreamsAsync();
        var folder = await BackupAsync(source);
        var manifest = BackupManifest.Decode(folder[BackupManifest.FileName]);
        folder.Replace(BackupManifest.FileName, (manifest with { Format = 1, Streams = null }).Encode());
        folder.Delete(BackupFile.StreamsNameOf(24));
        await RestoreAsync(folder, fresh.Client());
        Assert.Equal((await source.AllAsync()).Lines(), (await fresh.Client().AllAsync()).Lines());
        var next = await new LogBackup(source, folder, TimeProvider.System, Logs.Small).RunAsync();
        Assert.Equal((BackupManifest.Version, BackupFile.StreamsNameOf(24)), (next.Format, next.Streams?.Name));
    }

    [Fact]
    public async Task The_restored_log_goes_on()
    {
        await using var old = await TestCluster.StartAsync(3, 2);
        await using var fresh = await TestCluster.StartAsync(3, 2, number: 2);
        var source = await old.FillAsync();
        var target = fresh.Client();
        await RestoreAsync(await BackupAsync(source), target);
        await target.AppendAsync(100, 4);
        Assert.Equal([.. await source.WalkAsync(Logs.Odd, 8), 42, 44], await target.WalkAsync(Logs.Odd, 8));
    }

    [Fact]
    public async Task A_cluster_that_holds_something_is_refused_and_stays_usable()
    {
        await using var old = await TestCluster.StartAsync(3, 2);
        await using var used = await TestCluster.StartAsync(3, 2, number: 2);
        var folder = await BackupAsync(await old.FillAsync());
        var target = used.Client();
        await target.AppendAsync(0, 1);
        var refused = await Assert.ThrowsAsync<BackupException>(() => RestoreAsync(folder, target));
        Assert.Contains("not empty", refused.Message, StringComparison.Ordinal);
        await target.AppendAsync(1, 1);
        Assert.Equal(2, (await target.AllAsync()).Length);
    }

    /// <summary>A client appends between the look and the seal: the seal's answer counts.</summary>
    [Fact]
    public async Task An_append_that_slips_in_is_not_overwritten()
    {
        await using var old = await TestCluster.StartAsync(3, 2);
        await using var used = await TestCluster.StartAsync(3, 2, number: 2);
        var folder = await BackupAsync(await old.FillAsync());
        var target = used.Client();
        var appended = false;
        used.Transport.Faults = async (_, request) =>
        {
            if (request is not SealRequest || appended) return Fault.None;
            appended = true;
            await used.Client().AppendAsync(0, 1);
            return Fault.None;
        };
        await Assert.ThrowsAsync<BackupException>(() => RestoreAsync(folder, target));
        Assert.False(target.Projection.IsMirror);
        await target.AppendAsync(1, 1);
        Assert.Equal(2, (await target.AllAsync()).Count(p => p.IsData));
    }

    [Fact]
    public async Task A_damaged_backup_does_not_touch_the_cluster()
    {
        await using var old = await TestCluster.StartAsync(3, 2);
        await using var fresh = await TestCluster.StartAsync(3, 2, number: 2);
        var folder = await BackupAsync(await old.FillAsync());
        var last = folder.List().Last(BackupFile.IsName);
        folder[last][^5] ^= 1;
        var target = fresh.Client();
        await Assert.ThrowsAsync<BackupDamagedException>(() => RestoreAsync(folder, target));
        Assert.Equal(Epoch.First, target.Projection.Epoch);
        await target.AppendAsync(0, 1);
    }

    [Fact]
    public async Task Restore_cut_short_is_run_again_and_appends_are_refused_meanwhile()
    {
        await using var old = await TestCluster.StartAsync(3, 2);
        await using var fresh = await TestCluster.StartAsync(3, 2, number: 2);
        var source = await old.FillAsync(400);
        var folder = await BackupAsync(source);
        var target = fresh.Client();
        using var stop = new CancellationTokenSource();
        var restore = new LogRestore(await BackupReader.OpenAsync(folder), target, TimeProvider.System);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => restore.RunAsync(copying: p =>
            {
                if (p.Copied.Offset > 100) stop.Cancel();
            }, cancellationToken: stop.Token));
        var bystander = fresh.Client();
        await Assert.ThrowsAsync<LogIsMirrorException>(() => bystander.AppendAsync(0, 1));
        await RestoreAsync(folder, fresh.Client());
        Assert.Equal((await source.AllAsync()).Lines(), (await bystander.AllAsync()).Lines());
    }

    [Fact]
    public async Task Restored_mirror_goes_on_from_the_source()
    {
        await using var old = await TestCluster.StartAsync(3, 2);
        await using var fresh = await TestCluster.StartAsync(3, 2, number: 2);
        var source = await old.FillAsync();
        var target = fresh.Client();
        await RestoreAsync(await BackupAsync(source), target, promote: false);
        await source.AppendAsync(100, 20);
        await new LogMirror(source, target, TimeProvider.System, Logs.Small).CatchUpAsync();
        Assert.Equal((await source.AllAsync()).Lines(), (await target.AllAsync()).Lines());
    }

    [Fact]
    public async Task Restore_cut_short_during_the_verification_leaves_the_cluster_untouched_and_is_run_again()
    {
        await using var old = await TestCluster.StartAsync(3, 2);
        await using var fresh = await TestCluster.StartAsync(3, 2, number: 2);
        var source = await old.FillAsync();
        var folder = await BackupAsync(source);
        using var stop = new CancellationTokenSource();
        var restore = new LogRestore(await BackupReader.OpenAsync(folder), fresh.Client(), TimeProvider.System);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => restore.RunAsync(verifying: _ => stop.Cancel(), cancellationToken: stop.Token));
        Assert.Equal(Epoch.First, (await fresh.Client().Cluster.RefreshAsync()).Epoch);
        await RestoreAsync(folder, fresh.Client());
        Assert.Equal((await source.AllAsync()).Lines(), (await fresh.Client().AllAsync()).Lines());
    }

    /// <summary>The last step closes the cluster to copies and then opens it for appends: between the two it is
    /// neither.</summary>
    [Fact]
    public async Task Restore_cut_short_during_the_promotion_is_finished_by_the_same_command()
    {
        await using var old = await TestCluster.StartAsync(3, 2);
        await using var fresh = await TestCluster.StartAsync(3, 2, number: 2);
        var source = await old.FillAsync();
        var folder = await BackupAsync(source);
        var target = fresh.Client();
        await RestoreAsync(folder, target, promote: false);
        var own = target.Projection.Cluster;
        await target.Cluster.ReconfigureAsync(
            p => Membership.Of(p).WithMirrorOf(own), "closed to its copier, to be promoted");
        await RestoreAsync(folder, fresh.Client());
        var restored = fresh.Client();
        Assert.Equal((await source.AllAsync()).Lines(), (await restored.AllAsync()).Lines());
        await restored.AppendAsync(0, 1);
    }

    [Fact]
    public async Task Another_clusters_mirror_that_is_being_promoted_is_left_alone()
    {
        await using var old = await TestCluster.StartAsync(3, 2);
        await using var other = await TestCluster.StartAsync(3, 2, number: 3);
        await using var fresh = await TestCluster.StartAsync(3, 2, number: 2);
        var folder = await BackupAsync(await old.FillAsync());
        var target = fresh.Client();
        await RestoreAsync(await BackupAsync(await other.FillAsync()), target, promote: false);
        var own = target.Projection.Cluster;
        await target.Cluster.ReconfigureAsync(
            p => Membership.Of(p).WithMirrorOf(own), "closed to its copier, to be promoted");
        var refused = await Assert.ThrowsAsync<BackupException>(() => RestoreAsync(folder, fresh.Client()));
        Assert.Contains("being promoted", refused.Message, StringComparison.Ordinal);
    }
}
