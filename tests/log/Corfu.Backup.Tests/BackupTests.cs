using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Backup.Tests;

public sealed class BackupTests
{
    private static async Task<BackupManifest> BackupAsync(CorfuClient client, IBackupFolder folder,
        BackupOptions? options = null) =>
        await new LogBackup(client, folder, TimeProvider.System, options ?? Logs.Small).RunAsync();

    [Fact]
    public async Task Backup_holds_everything_below_the_tail_with_holes_closed()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = await cluster.FillAsync();
        await cluster.LeaveHoleAsync();
        var folder = new MemoryFolder();
        var manifest = await BackupAsync(client, folder);
        Assert.Equal((3L, 42L), (manifest.TrimMark, manifest.End));
        Assert.True(manifest.Files.Length > 1);
        var backup = await BackupReader.OpenAsync(folder);
        await backup.VerifyAsync();
        var pages = await PagesAsync(backup);
        Assert.Equal(39, pages.Sum(p => p.Count));
        Assert.Equal(CopiedKind.Tombstone, pages[4].Kind);
        Assert.Equal(37, pages.Count(p => p.Entry is { IsJunk: false } && p.Kind == CopiedKind.Entry) + 1);
        Assert.Equal([20L, 41L], pages.Where(p => p.Entry is { IsJunk: true }).Select(p => p.Position.Offset));
        Assert.DoesNotContain(await client.AllAsync(), p => p.State == PageState.Unwritten);
    }

    [Fact]
    public async Task A_second_run_goes_on_where_the_first_ended()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = await cluster.FillAsync();
        var folder = new MemoryFolder();
        var first = await BackupAsync(client, folder);
        await client.AppendAsync(100, 30);
        var second = await BackupAsync(client, folder);
        Assert.Equal(first.Files, second.Files[..first.Files.Length]);
        Assert.Equal(first.End + 30, second.End);
        await (await BackupReader.OpenAsync(folder)).VerifyAsync();
        var third = await BackupAsync(client, folder);
        Assert.Equal(second.Files, third.Files);
    }

    [Fact]
    public async Task A_mark_that_moved_lets_files_go()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = await cluster.FillAsync();
        var folder = new MemoryFolder();
        var first = await BackupAsync(client, folder);
        await client.TrimPrefixAsync(new LogPosition(30));
        var second = await BackupAsync(client, folder);
        Assert.Equal(30, second.TrimMark);
        Assert.True(second.Files.Length < first.Files.Length);
        Assert.DoesNotContain(first.Files[0].Name, folder.List());
        var pages = await PagesAsync(await BackupReader.OpenAsync(folder));
        Assert.Equal(30, pages[0].Position.Offset);
        Assert.Equal([BackupFile.StreamsNameOf(30)], folder.List().Where(BackupFile.IsStreamsName));
    }

    [Fact]
    public async Task A_mark_beyond_the_last_run_leaves_no_gap()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = await cluster.FillAsync();
        var folder = new MemoryFolder();
        await BackupAsync(client, folder);
        await client.AppendAsync(100, 30);
        await client.TrimPrefixAsync(new LogPosition(60));
        var second = await BackupAsync(client, folder);
        Assert.Equal((60L, 71L), (second.TrimMark, second.End));
        await (await BackupReader.OpenAsync(folder)).VerifyAsync();
    }

    [Fact]
    public async Task R22_streams_that_are_trimmed_in_the_middle_of_a_run_are_in_the_backup()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        await client.AppendAsync(0, 400);
        for (var i = 0; i < 10; i++) (await client.AppendAsync("late"u8.ToArray(), [Logs.Late])).Require();
        var trim = Task.CompletedTask;
        var folder = new MemoryFolder();
        var manifest = await new LogBackup(client, folder, TimeProvider.System, Logs.Small).RunAsync(progress =>
        {
            if (trim.IsCompleted && progress.Copied.Offset < 400)
                trim = client.TrimPrefixAsync(new LogPosition(410)).AsTask();
        });
        await trim;
        Assert.Equal((410L, 410L), (manifest.TrimMark, manifest.End));
        var streams = await (await BackupReader.OpenAsync(folder)).ReadStreamsAsync();
        Assert.Equal([409, 408, 407, 406], streams.Single(s => s.Stream == Logs.Late).Positions.Select(p => p.Offset));
    }

    [Fact]
    public async Task A_run_that_came_no_further_than_the_trimmed_streams_is_continued()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = await cluster.TrimStreamsAsync();
        var path = Directory.CreateTempSubdirectory("corfu-backup-").FullName;
        try
        {
            await File.WriteAllTextAsync(Path.Combine(path, BackupFile.StreamsNameOf(20)), "cut short",
                TestContext.Current.CancellationToken);
            using (var folder = DirectoryBackupFolder.OpenToWrite(path))
                await new LogBackup(client, folder, TimeProvider.System, Logs.Small).RunAsync();
            using (var folder = DirectoryBackupFolder.OpenToRead(path))
                await (await BackupReader.OpenAsync(folder)).VerifyAsync();
            Assert.False(File.Exists(Path.Combine(path, BackupFile.StreamsNameOf(20))));
        }
        finally
        {
            Directory.Delete(path, recursive: true);
        }
    }

    [Fact]
    public async Task An_interrupted_run_leaves_a_backup_that_the_next_one_continues()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = await cluster.FillAsync();
        var folder = new MemoryFolder();
        using var stop = new CancellationTokenSource();
        var backup = new LogBackup(client, folder, TimeProvider.System, Logs.Small with { FileSize = 1 << 20 });
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => backup.RunAsync(p => stop.Cancel(), stop.Token));
        var part = (await BackupReader.OpenAsync(folder)).Manifest;
        Assert.InRange(part.End, 4, 40);
        var rest = await BackupAsync(client, folder);
        Assert.Equal(41, rest.End);
        Assert.Equal(part.Files[0], rest.Files[0]);
        await (await BackupReader.OpenAsync(folder)).VerifyAsync();
    }

    [Fact]
    public async Task Full_disk_leaves_the_backup_whole()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = await cluster.FillAsync();
        var folder = new MemoryFolder();
        var first = await BackupAsync(client, folder);
        await client.AppendAsync(100, 30);
        var appends = 0;
        folder.BeforeAppend = _ =>
        {
            if (++appends > 5) throw new IOException("No space left on device");
        };
        await Assert.ThrowsAsync<IOException>(() => BackupAsync(client, folder));
        folder.BeforeAppend = null;
        await (await BackupReader.OpenAsync(folder)).VerifyAsync();
        Assert.Equal(first.End + 30, (await BackupAsync(client, folder)).End);
    }

    [Fact]
    public async Task Another_clusters_folder_is_refused()
    {
        await using var one = await TestCluster.StartAsync(1, 1);
        await using var two = await TestCluster.StartAsync(1, 1, number: 2);
        var folder = new MemoryFolder();
        await BackupAsync(await one.FillAsync(), folder);
        var before = folder[BackupManifest.FileName];
        var refused =
            await Assert.ThrowsAsync<BackupException>(async () => await BackupAsync(await two.FillAsync(), folder));
        Assert.Contains(one.Id.ToString(), refused.Message, StringComparison.Ordinal);
        Assert.Equal(before, folder[BackupManifest.FileName]);
    }

    [Fact]
    public async Task Backup_ends_before_a_page_without_a_sound_copy()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = await cluster.FillAsync();
        var damaged = new LogPosition(25);
        cluster.Transport.Rewrite = (_, _, answer) => answer is ReadResponse read
            ? read
                with
            {
                Pages =
                    [.. read.Pages.Select(
                        p =>
                            p.Position == damaged
                                ? new PageResult(damaged, PageState.Corrupt, false, default, default)
                                : p)]
            }
            : answer;
        var folder = new MemoryFolder();
        var failed = await Assert.ThrowsAsync<PageCorruptException>(() => BackupAsync(client, folder));
        Assert.Contains("Position 25", failed.Message, StringComparison.Ordinal);
        cluster.Transport.Rewrite = null;
        Assert.Equal(41, (await BackupAsync(client, folder)).End);
    }

    /// <summary>Every byte of every file counts.</summary>
    [Fact]
    public async Task Any_changed_byte_is_noticed()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var folder = new MemoryFolder();
        await BackupAsync(await cluster.FillAsync(), folder);
        foreach (var name in folder.List())
        {
            var whole = folder[name];
            for (var at = 0; at < whole.Length; at += 7)
            {
                var changed = whole.ToArray();
                changed[at] ^= 0x10;
                folder[name] = changed;
                await Assert.ThrowsAsync<BackupDamagedException>(
                    async () => await (await BackupReader.OpenAsync(folder)).VerifyAsync());
            }

            folder[name] = whole[..^1];
            await Assert.ThrowsAsync<BackupDamagedException>(
                async () => await (await BackupReader.OpenAsync(folder)).VerifyAsync());
            folder[name] = whole;
        }

        await (await BackupReader.OpenAsync(folder)).VerifyAsync();
    }

    [Fact]
    public async Task A_missing_file_is_named()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = await cluster.FillAsync();
        var folder = new MemoryFolder();
        var manifest = await BackupAsync(client, folder);
        var lost = new MemoryFolder();
        foreach (var name in folder.List().Where(n => n != manifest.Files[1].Name)) lost[name] = folder[name];
        var damaged =
            await Assert.ThrowsAsync<BackupDamagedException>(
                async () => await (await BackupReader.OpenAsync(lost)).VerifyAsync());
        Assert.Equal(manifest.Files[1].Name, damaged.File);
        await Assert.ThrowsAsync<BackupDamagedException>(() => BackupAsync(client, lost));
    }

    private static async Task<List<CopiedPage>> PagesAsync(BackupReader backup)
    {
        List<CopiedPage> pages = [];
        await foreach (var batch in backup.ReadAsync(LogPosition.Zero)) pages.AddRange(batch.Pages);
        return pages;
    }
}
