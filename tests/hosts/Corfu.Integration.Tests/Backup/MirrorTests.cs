using Corfu.Backup;
using Corfu.Client;
using Corfu.Hosting;
using Corfu.Integration.Tests.Support;
using Tango;
using Tango.Collections;

namespace Corfu.Integration.Tests.Backup;

/// <summary>Two clusters with real sockets and disks.</summary>
public sealed class MirrorTests
{
    private static TangoRuntime Runtime(CorfuClient client) =>
        new(client, () => new StreamCursor(client), TimeProvider.System, SystemEntropy.Instance);

    [Fact]
    public async Task Object_is_read_on_the_mirror_and_written_there_after_the_promotion()
    {
        await using var a = await EmbeddedCluster.StartAsync();
        await using var b = await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Units = 2, Replicas = 1 });
        await using var source = await a.ConnectAsync();
        await using var target = await b.ConnectAsync();
        await using var writer = Runtime(source);
        var written = await writer.OpenAsync<TangoDictionary<string, long>>("stock", OpenMode.Create);
        for (var i = 0; i < 50; i++) await written.SetAsync($"item {i % 7}", i);
        await using (var transaction = writer.BeginTx())
        {
            await written.SetAsync("moved", (await written.TryGetAsync("item 1")).Value);
            await written.RemoveAsync("item 1");
            (await transaction.EndTxAsync()).ThrowIfNotCommitted();
        }

        using var stop = new CancellationTokenSource();
        var caughtUp = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var tail = (await source.CheckAsync([])).Tail;
        var mirror = new LogMirror(source, target, TimeProvider.System)
        {
            Progress = p =>
        {
            if (p.Copied >= tail) caughtUp.TrySetResult();
        }
        };
        var running = mirror.RunAsync(stop.Token);
        await await Task.WhenAny(running, caughtUp.Task.WaitAsync(TimeSpan.FromSeconds(60)));

        await using var reading = await b.ConnectAsync();
        await using (var reader = Runtime(reading))
        {
            var read = await reader.OpenAsync<TangoDictionary<string, long>>("stock", OpenMode.Create);
            Assert.Equal(43, (await read.TryGetAsync("moved")).Value);
            Assert.False(await read.ContainsKeyAsync("item 1"));
            await Assert.ThrowsAnyAsync<Exception>(async () => await read.SetAsync("no", 1));
        }

        await stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => running);
        await new MirrorPromotion(target, source, TimeProvider.System).RunAsync();
        await using var promoted = Runtime(reading);
        var own = await promoted.OpenAsync<TangoDictionary<string, long>>("stock", OpenMode.Create);
        await own.SetAsync("yes", 1);
        Assert.Equal(1, (await own.TryGetAsync("yes")).Value);
        Assert.Equal(43, (await own.TryGetAsync("moved")).Value);
    }

    [Fact]
    public async Task The_tool_backs_up_verifies_and_restores()
    {
        using var folder = new TempFolder();
        var dir = folder.File("backup");
        await using var a = await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        await using var b = await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Units = 2, Replicas = 2 });
        await using var source = await a.ConnectAsync();
        for (var i = 0; i < 300; i++)
            (await source.AppendAsync(BitConverter.GetBytes(i), [StreamId.FromName("a")])).Require();
        await source.TrimPrefixAsync(new LogPosition(10));

        (await CorfuTool.RunAsync("backup", "--connect", a.ConnectionString, "--to", dir)).Require();
        for (var i = 300; i < 320; i++)
            (await source.AppendAsync(BitConverter.GetBytes(i), [StreamId.FromName("a")])).Require();
        var second = (await CorfuTool.RunAsync("backup", "--connect", a.ConnectionString, "--to", dir)).Require();
        Assert.Contains("positions 10 to 320, 3 files", second.Output, StringComparison.Ordinal);
        Assert.Contains("20 positions in this run", second.Output, StringComparison.Ordinal);
        Assert.StartsWith("sound: ", (await CorfuTool.RunAsync("backup", "verify", dir)).Require().Output,
            StringComparison.Ordinal);

        (await CorfuTool.RunAsync("restore", "--from", dir, "--connect", b.ConnectionString)).Require();
        await using var restored = await b.ConnectAsync();
        Assert.Equal(320, (await restored.CheckAsync([])).Tail.Offset);
        var pages = await restored.ReadManyAsync([.. Enumerable.Range(0, 320).Select(i => new LogPosition(i))],
            mode: ReadMode.Observe);
        for (var i = 10; i < 320; i++) Assert.Equal(i, BitConverter.ToInt32(pages[i].Entry!.Payload.Span));
        Assert.All(pages[..10], p => Assert.Equal(PageState.Trimmed, p.State));

        var again = await CorfuTool.RunAsync("restore", "--from", dir, "--connect", b.ConnectionString);
        Assert.Equal(1, again.ExitCode);
        Assert.Contains("is not empty", again.Error, StringComparison.Ordinal);
        var file = Directory.EnumerateFiles(dir, "*.cfb").Order(StringComparer.Ordinal).First();
        var bytes = await File.ReadAllBytesAsync(file);
        bytes[^1] ^= 1;
        await File.WriteAllBytesAsync(file, bytes);
        var damaged = await CorfuTool.RunAsync("backup", "verify", dir);
        Assert.Equal(1, damaged.ExitCode);
        Assert.Contains(Path.GetFileName(file), damaged.Error, StringComparison.Ordinal);
        Assert.Contains("There is no backup in",
            (await CorfuTool.RunAsync("backup", "verify", folder.File("nothing"))).Error, StringComparison.Ordinal);
    }
}
