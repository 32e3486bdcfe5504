using Corfu.Conformance;
using Corfu.Protocol;
using Corfu.Storage;

namespace Corfu.Unit.Tests;

/// <summary>R3: the map's checkpoint is a shortcut, used only when complete and consistent with the log; two are
/// kept.</summary>
public sealed class CheckpointTests : IDisposable
{
    private const int Pages = 3000;

    private static readonly PageStoreOptions Options = Stores.Small with { CheckpointRecords = 500 };

    private readonly TempFolder _folder = new();

    private string MapFolder => Path.Combine(_folder.Path, "map");

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Start_reads_only_records_behind_the_checkpoint()
    {
        await FillAsync();
        for (var restart = 0; restart < 3; restart++)
        {
            var store = Stores.Faster(_folder.Path, Options);
            var unit = await HandlerClient.OpenAsync(store, install: false);
            Assert.InRange(store.RecordsRead, 0, Pages / 2);
            await CheckAsync(unit);
            await unit.Handler.DisposeAsync();
        }
    }

    [Fact]
    public async Task Last_checkpoint_of_the_run_counts_after_a_crash()
    {
        var unit = await HandlerClient.OpenAsync(Stores.Faster(_folder.Path, Options));
        await WriteAsync(unit);
        await unit.Handler.CleanAsync();
        // As the disk is now, while the unit still runs.
        using var copy = new TempFolder();
        foreach (var name in new[] { "log", "map" })
            Copy(Path.Combine(_folder.Path, name), Path.Combine(copy.Path, name));
        await unit.Handler.DisposeAsync();
        var store = Stores.Faster(copy.Path, Options);
        var again = await HandlerClient.OpenAsync(store, install: false);
        Assert.InRange(store.RecordsRead, 0, Pages / 2);
        await CheckAsync(again);
        await again.Handler.DisposeAsync();
    }

    /// <summary>
    /// FASTER's own files of checkpoints finish their writes on the thread pool, and a map operation waited for one
    /// under the unit's lock, for which all of the pool waited: no progress until the pool had grown past its callers,
    /// about two a second.
    /// </summary>
    [Fact(Timeout = 120_000)]
    public async Task Checkpoint_needs_no_thread_of_a_pool_that_the_callers_hold_whole()
    {
        const int callers = 2000;
        const int each = 50;
        var unit = await HandlerClient.OpenAsync(Stores.Faster(_folder.Path, Options));
        await Task.WhenAll(Enumerable.Range(0, callers).Select(caller => Task.Run(async () =>
        {
            for (var i = 0; i < each; i++)
                await unit.AskUntilTakenAsync(new WriteRequest(Epoch.First, Build((i * callers) + caller)));
        })));
        await unit.Handler.DisposeAsync();
    }

    [Fact]
    public async Task A_damaged_checkpoint_gives_way_to_the_older_one_and_two_damaged_ones_to_the_log()
    {
        await FillAsync();
        var files = Directory.GetFiles(MapFolder, "checkpoint.*").OrderByDescending(f => int.Parse(f.Split('.')[^1]))
            .ToList();
        Assert.Equal(2, files.Count);
        for (var damaged = 0; damaged < 2; damaged++)
        {
            var bytes = File.ReadAllBytes(files[damaged]);
            bytes[bytes.Length / 2] ^= 1;
            File.WriteAllBytes(files[damaged], bytes);
            using var copy = new TempFolder();
            foreach (var name in new[] { "log", "map" })
                Copy(Path.Combine(_folder.Path, name), Path.Combine(copy.Path, name));
            var store = Stores.Faster(copy.Path, Options);
            var unit = await HandlerClient.OpenAsync(store, install: false);
            Assert.Equal(damaged == 1, store.RecordsRead >= Pages);
            // The map goes on over what it needs: it must not be found again, should it only have been read badly.
            Assert.False(File.Exists(Path.Combine(copy.Path, "map", Path.GetFileName(files[0]))));
            await CheckAsync(unit);
            await unit.Handler.DisposeAsync();
        }
    }

    /// <summary>Whole by its check, and yet it cannot be used: another version wrote it, or its map lacks
    /// something.</summary>
    [Fact]
    public async Task A_checkpoint_that_cannot_be_restored_gives_way_to_the_log()
    {
        await FillAsync();
        foreach (var path in Directory.GetFiles(MapFolder, "checkpoint.*"))
        {
            var bytes = File.ReadAllBytes(path);
            // The core's part is the last: its end is missing.
            bytes[^5] ^= 1;
            System.Buffers.Binary.BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(bytes.Length - 4),
                Crc32C.Compute(bytes.AsSpan(0, bytes.Length - 4)));
            File.WriteAllBytes(path, bytes);
        }

        var store = Stores.Faster(_folder.Path, Options);
        var unit = await HandlerClient.OpenAsync(store, install: false);
        Assert.False(store.StartedFromCheckpoint);
        await CheckAsync(unit);
        await unit.Handler.DisposeAsync();
    }

    [Fact]
    public async Task Map_that_contradicts_the_log_behind_the_checkpoint_is_built_again()
    {
        var files = new RecordingFiles();
        var maps = new MemoryMapFiles();
        var unit = await HandlerClient.OpenAsync(Stores.Plain(files, maps, Options));
        await WriteAsync(unit);
        await unit.Handler.DisposeAsync();
        var rarely = Options with { CheckpointRecords = int.MaxValue };
        unit = await HandlerClient.OpenAsync(Stores.Plain(files, maps, rarely), install: false);
        for (var i = Pages; i < Pages + 20; i++)
            Assert.Equal(Status.Ok,
                (await unit.AskUntilTakenAsync(new WriteRequest(new Epoch(2), Entries.Data(i, epoch: 2)))).Status);
        await unit.Handler.DisposeAsync();
        // The checkpoint has these pages now, as another writer's.
        var kept = new PlainAddressMaps<long, PageEntry>(maps);
        var name = maps.List().Where(n => n.StartsWith("map.", StringComparison.Ordinal)).Max()!;
        var token = Guid.ParseExact(name["map.".Length..], "N");
        using (var map = kept.Open(token, _ => { }))
        {
            for (var i = Pages; i < Pages + 20; i++)
                map.Set(i, new PageEntry(
                    new PageSlot(PageState.Data, 64, 10, 5, new EntryOrigin(new WriterId(token), i), 1)));
            var other = map.BeginCheckpoint();
            await map.EndCheckpointAsync(other);
            maps.Rename(MapFileNames.Of(other), name);
        }

        var store = Stores.Plain(files, maps, rarely);
        unit = await HandlerClient.OpenAsync(store, install: false);
        Assert.False(store.StartedFromCheckpoint);
        await CheckAsync(unit, Pages + 20);
        await unit.Handler.DisposeAsync();
    }

    [Fact]
    public async Task A_checkpoint_whose_map_is_missing_is_not_used()
    {
        await FillAsync();
        Directory.Delete(Path.Combine(MapFolder, "index-checkpoints"), true);
        var store = Stores.Faster(_folder.Path, Options);
        var unit = await HandlerClient.OpenAsync(store, install: false);
        Assert.InRange(store.RecordsRead, Pages, long.MaxValue);
        await CheckAsync(unit);
        await unit.Handler.DisposeAsync();
    }

    [Fact]
    public async Task The_checkpoint_of_another_log_is_not_used()
    {
        await FillAsync();
        Directory.Delete(Path.Combine(_folder.Path, "log"), true);
        var store = Stores.Faster(_folder.Path, Options);
        var unit = await HandlerClient.OpenAsync(store);
        Assert.Equal(0, store.RecordsRead);
        var read = await unit.AskAsync(new ReadRequest(Epoch.First, Entries.Positions(5), ReadDetail.Full));
        Assert.Equal(PageState.Unwritten, Assert.Single(read.Pages).State);
        await unit.Handler.DisposeAsync();
    }

    [Fact]
    public async Task A_segment_that_is_missing_below_the_checkpoint_is_noticed()
    {
        await FillAsync();
        var log = Path.Combine(_folder.Path, "log");
        var files = Directory.GetFiles(log, "log.*").OrderBy(f => int.Parse(f.Split('.')[^1])).ToList();
        File.Delete(files[files.Count / 2]);
        var store = Stores.Faster(_folder.Path, Options);
        await Assert.ThrowsAsync<LogDamagedException>(
            async () => await UnitCore.OpenAsync(store, new UnitCoreOptions { Cluster = Entries.Cluster }));
        await store.DisposeAsync();
    }

    private async Task FillAsync()
    {
        var unit = await HandlerClient.OpenAsync(Stores.Faster(_folder.Path, Options));
        await WriteAsync(unit);
        await unit.Handler.DisposeAsync();
    }

    // Writes with checkpoints going on beside them, trims of both kinds, an epoch.
    private static async Task WriteAsync(HandlerClient unit)
    {
        for (var i = 0; i < Pages; i++)
        {
            Status status;
            while ((status = (await unit.AskAsync(new WriteRequest(Epoch.First, Build(i)))).Status)
                == Status.Overloaded) Thread.Yield();
            Assert.Equal(Status.Ok, status);
            if (i % 7 == 0)
                await unit.AskUntilTakenAsync(new TrimRequest(Epoch.First, new LogPosition(i / 2), default));
            if (i % 500 == 0) await unit.Handler.CleanAsync();
        }

        await unit.AskUntilTakenAsync(new TrimPrefixRequest(Epoch.First, new LogPosition(100)));
        await unit.AskUntilTakenAsync(new SealRequest(new Epoch(2)));
        await unit.AskUntilTakenAsync(new InstallRequest(Entries.Projection(2, Pages)));
    }

    private static byte[] Build(long position) =>
        Entries.Data(position, new byte[position % 200], 1, position, 300 + (ulong)(position % 40));

    private static async Task CheckAsync(HandlerClient unit, long end = Pages)
    {
        var trimmed = Enumerable.Range(0, Pages).Where(i => i % 7 == 0).Select(i => i / 2).ToHashSet();
        var epoch = new Epoch(2);
        for (var i = 0; i < Pages; i++)
        {
            var read = await unit.AskAsync(new ReadRequest(epoch, Entries.Positions(i), ReadDetail.Full));
            var page = Assert.Single(read.Pages);
            var gone = i < 100 || trimmed.Contains(i);
            Assert.Equal((i, gone ? PageState.Trimmed : PageState.Data), (i, page.State));
            if (!gone) Assert.Equal(Build(i), page.Bytes.ToArray());
        }

        for (ulong stream = 0; stream < 40; stream++)
        {
            var tails = await unit.AskAsync(new StreamTailsRequest(epoch, [new StreamId(300 + stream)]));
            var newest = Pages - 40 + (long)stream;
            Assert.Equal([newest, newest - 40, newest - 80, newest - 120],
                tails.Tails[0].Positions.Select(p => p.Offset));
        }

        var info = await unit.AskAsync(new UnitInfoRequest(epoch));
        Assert.Equal((end, 100L, 2L), (info.End.Offset, info.TrimMark.Offset, info.Installed.Value));
    }

    private static void Copy(string from, string to)
    {
        foreach (var folder in Directory.GetDirectories(from, "*", SearchOption.AllDirectories))
            Directory.CreateDirectory(folder.Replace(from, to, StringComparison.Ordinal));
        Directory.CreateDirectory(to);
        foreach (var file in Directory.GetFiles(from, "*", SearchOption.AllDirectories))
            File.Copy(file, file.Replace(from, to, StringComparison.Ordinal));
    }
}
