using Corfu.Conformance;
using Corfu.Protocol;
using Corfu.Storage;

namespace Corfu.Unit.Tests;

/// <summary>TOCS 2.6, R5: trims give disk space back while the unit serves, and nothing else goes with it.</summary>
public sealed class CleaningTests : IDisposable
{
    private const int Entry = 900;
    private const int Pages = 1200;

    private readonly TempFolder _folder = new();

    private string LogFolder => Path.Combine(_folder.Path, "log");

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Random_trims_free_disk_space_and_keep_tombstones_and_live_pages()
    {
        var unit = await OpenAsync();
        await WriteAllAsync(unit, Pages);
        var before = DiskUsage();
        // Nine of ten, in no order; every 100th of the whole stays in a stream of its own.
        foreach (var i in Enumerable.Range(0, Pages).Where(i => i % 10 != 0).OrderBy(i => (i * 7919L) % Pages))
            Assert.Equal(Status.Ok,
                (await unit.AskUntilTakenAsync(new TrimRequest(Epoch.First, new LogPosition(i), default))).Status);
        await unit.Handler.CleanAsync();
        Assert.InRange(DiskUsage(), 0, before * 6 / 10);
        for (var restart = 0; restart < 3; restart++)
        {
            await CheckAsync(unit, i => i % 10 == 0);
            await unit.Handler.DisposeAsync();
            unit = await OpenAsync();
        }

        Assert.False(File.Exists(Path.Combine(LogFolder, "log.0")));
        await unit.Handler.DisposeAsync();
    }

    [Fact]
    public async Task Segments_in_the_middle_go_and_the_log_still_recovers()
    {
        var unit = await OpenAsync();
        await WriteAllAsync(unit, Pages);
        for (var i = 300; i < 800; i++)
            await unit.AskUntilTakenAsync(new TrimRequest(Epoch.First, new LogPosition(i), default));
        await unit.Handler.CleanAsync();
        Assert.True(File.Exists(Path.Combine(LogFolder, "log.0")));
        Assert.Contains(Enumerable.Range(1, 12), s => !File.Exists(Path.Combine(LogFolder, $"log.{s}")));
        for (var restart = 0; restart < 3; restart++)
        {
            await CheckAsync(unit, i => i is < 300 or >= 800);
            await unit.Handler.DisposeAsync();
            unit = await OpenAsync();
            await WriteAsync(unit, Pages + restart);
        }

        // The rest of the beginning goes as well, gaps and all.
        await unit.AskUntilTakenAsync(new TrimPrefixRequest(Epoch.First, new LogPosition(1000)));
        await unit.Handler.CleanAsync();
        await unit.Handler.DisposeAsync();
        unit = await OpenAsync();
        await CheckAsync(unit, i => i >= 1000, mark: 1000);
        await unit.Handler.DisposeAsync();
    }

    [Fact]
    public async Task A_segment_that_is_missing_without_having_been_freed_is_noticed_beside_one_that_was()
    {
        var unit = await OpenAsync();
        await WriteAllAsync(unit, Pages);
        for (var i = 300; i < 500; i++)
            await unit.AskUntilTakenAsync(new TrimRequest(Epoch.First, new LogPosition(i), default));
        await unit.Handler.CleanAsync();
        await unit.Handler.DisposeAsync();
        var gone = Enumerable.Range(1, 12).First(s => !File.Exists(Path.Combine(LogFolder, $"log.{s}")));
        foreach (var neighbour in new[] { gone - 1, gone + 4 })
        {
            var path = Path.Combine(LogFolder, $"log.{neighbour}");
            var bytes = File.ReadAllBytes(path);
            File.Delete(path);
            var store = Stores.Faster(_folder.Path, Stores.Small);
            await Assert.ThrowsAsync<LogDamagedException>(
                async () => await UnitCore.OpenAsync(store, new UnitCoreOptions { Cluster = Entries.Cluster }));
            await store.DisposeAsync();
            File.WriteAllBytes(path, bytes);
        }

        unit = await OpenAsync();
        await CheckAsync(unit, i => i is < 300 or >= 500);
        await unit.Handler.DisposeAsync();
    }

    [Fact]
    public async Task Stream_tails_below_the_mark_survive_the_deletion_of_the_entries()
    {
        var unit = await OpenAsync();
        for (var i = 0; i < Pages; i++) await WriteAsync(unit, i, stream: 300 + (ulong)(i % 50));
        await unit.AskUntilTakenAsync(new SealRequest(new Epoch(2)));
        await unit.AskUntilTakenAsync(new InstallRequest(Entries.Projection(2, Pages)));
        for (var i = Pages; i < Pages + 200; i++) await WriteAsync(unit, i, epoch: 2, stream: 400);
        await unit.AskUntilTakenAsync(new TrimPrefixRequest(new Epoch(2), new LogPosition(Pages + 100)));
        await unit.Handler.CleanAsync();
        Assert.False(File.Exists(Path.Combine(LogFolder, "log.0")));
        for (var restart = 0; restart < 3; restart++)
        {
            for (ulong stream = 0; stream < 50; stream++)
            {
                var tails = await unit.AskAsync(new StreamTailsRequest(new Epoch(2), [new StreamId(300 + stream)]));
                var newest = Pages - 50 + (long)stream;
                Assert.Equal([newest, newest - 50, newest - 100, newest - 150],
                    tails.Tails[0].Positions.Select(p => p.Offset));
            }

            await unit.Handler.DisposeAsync();
            unit = await OpenAsync();
            // Carried stream tails go with their segment too, and are written again.
            for (var i = 0; i < 200; i++)
                await WriteAsync(unit, Pages + 200 + (restart * 200) + i, epoch: 2, stream: 400);
            await unit.AskUntilTakenAsync(new TrimPrefixRequest(new Epoch(2),
                new LogPosition(Pages + (restart * 200) + 300)));
            await unit.Handler.CleanAsync();
        }

        await unit.Handler.DisposeAsync();
    }

    [Fact]
    public async Task Address_map_forgets_slots_below_the_mark()
    {
        var store = Stores.Faster(_folder.Path, Stores.Small);
        var unit = await HandlerClient.OpenAsync(store);
        long largest = 0;
        for (var i = 999; i < 20_000; i += 1000)
        {
            await WriteAllAsync(unit, i + 1, from: i - 999, size: 10);
            await unit.AskUntilTakenAsync(new TrimPrefixRequest(Epoch.First, new LogPosition(i - 500)));
            await unit.Handler.CleanAsync();
            largest = Math.Max(largest, store.MapBytes);
        }

        Assert.InRange(largest, 1, 400_000);
        await unit.Handler.DisposeAsync();
    }

    [Fact]
    public async Task Reads_during_the_cleaning_see_every_page()
    {
        var unit = await OpenAsync();
        await WriteAllAsync(unit, Pages);
        var stop = false;
        var reader = Task.Run(async () =>
        {
            for (var rounds = 0; !Volatile.Read(ref stop) || rounds < 2; rounds++) await CheckLiveAsync(unit);
        });
        for (var i = 0; i < Pages; i++)
        {
            if (i % 10 == 0) continue;
            await unit.AskUntilTakenAsync(new TrimRequest(Epoch.First, new LogPosition(i), default));
            if (i % 200 == 1) await unit.Handler.CleanAsync();
        }

        await unit.Handler.CleanAsync();
        Volatile.Write(ref stop, true);
        await reader;
        await unit.Handler.DisposeAsync();
    }

    [Fact]
    public async Task Damaged_page_keeps_the_segment_until_the_repair()
    {
        var unit = await OpenAsync();
        for (var i = 0; i < 300; i++) await WriteAsync(unit, i);
        await unit.Handler.DisposeAsync();
        var path = Path.Combine(LogFolder, "log.0");
        var bytes = File.ReadAllBytes(path);
        var entry = Build(20, 1, 300, Entry);
        var at = bytes.AsSpan().IndexOf(entry) + entry.Length - 5;
        bytes[at] ^= 1;
        File.WriteAllBytes(path, bytes);
        unit = await OpenAsync();
        for (var i = 0; i < 300; i++)
        {
            if (i % 20 != 0) await unit.AskUntilTakenAsync(new TrimRequest(Epoch.First, new LogPosition(i), default));
        }

        await unit.Handler.CleanAsync();
        Assert.True(File.Exists(path));
        Assert.Equal(Status.Ok, (await unit.AskUntilTakenAsync(new RepairRequest(Epoch.First, entry))).Status);
        await unit.Handler.CleanAsync();
        Assert.False(File.Exists(path));
        var read = await unit.AskAsync(new ReadRequest(Epoch.First, Entries.Positions(20), ReadDetail.Full));
        Assert.Equal(entry, Assert.Single(read.Pages).Bytes.ToArray());
        await unit.Handler.DisposeAsync();
    }

    private Task<HandlerClient> OpenAsync() => HandlerClient.OpenAsync(Stores.Faster(_folder.Path, Stores.Small));

    private long DiskUsage() => Directory.GetFiles(LogFolder).Sum(f => new FileInfo(f).Length);

    private static byte[] Build(long position, long epoch, ulong stream, int size) =>
        Entries.Data(position, [.. Enumerable.Range(0, size).Select(i => (byte)(position + i))], epoch, position,
            stream);

    /// <summary>In groups, each with few syncs of the disk.</summary>
    private static async Task WriteAllAsync(HandlerClient unit, int until, int from = 0, int size = Entry)
    {
        foreach (var group in Enumerable.Range(from, until - from).Chunk(50))
            await Task.WhenAll(group.Select(position => WriteAsync(unit, position, size: size)));
    }

    private static async Task WriteAsync(HandlerClient unit, long position, long epoch = 1, ulong stream = 300,
        int size = Entry)
    {
        Status status;
        var entry = Build(position, epoch, stream, size);
        while ((status = (await unit.AskAsync(new WriteRequest(new Epoch(epoch), entry))).Status) == Status.Overloaded)
            Thread.Yield();
        Assert.Equal(Status.Ok, status);
    }

    private static async Task CheckLiveAsync(HandlerClient unit)
    {
        for (var i = 0; i < Pages; i += 10)
        {
            var read = await unit.AskAsync(new ReadRequest(Epoch.First, Entries.Positions(i), ReadDetail.Full));
            if (read.Status == Status.Overloaded) continue;
            Assert.Equal(Build(i, 1, 300, Entry), Assert.Single(read.Pages).Bytes.ToArray());
        }
    }

    private static async Task CheckAsync(HandlerClient unit, Func<int, bool> live, int mark = 0)
    {
        for (var i = 0; i < Pages; i++)
        {
            var read = await unit.AskAsync(new ReadRequest(Epoch.First, Entries.Positions(i), ReadDetail.Full));
            var page = Assert.Single(read.Pages);
            var entry = Build(i, 1, 300, Entry);
            if (live(i))
            {
                Assert.Equal(PageState.Data, page.State);
                Assert.Equal(entry, page.Bytes.ToArray());
                continue;
            }

            Assert.Equal(PageState.Trimmed, page.State);
            Assert.Equal(i < mark ? [] : entry[..EntryCodec.HeaderLength(entry)], page.Bytes.ToArray());
        }
    }
}
