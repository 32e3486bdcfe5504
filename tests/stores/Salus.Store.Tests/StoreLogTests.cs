using Corfu.Conformance;
using Salus.Store.Log;

namespace Salus.Store.Tests;

/// <summary>The log of a machine over FASTER, and over the simulator's record log.</summary>
public sealed class FasterStoreLogTests : StoreLogConformance
{
    internal override OpenRecordLog Open => static (files, space, sizes) => new FasterRecordLog(files, space, sizes);
}

public sealed class PlainStoreLogTests : StoreLogConformance
{
    internal override OpenRecordLog Open => static (files, space, sizes) => new PlainRecordLog(files, space, sizes);
}

public abstract class StoreLogConformance : IAsyncLifetime
{
    private readonly List<StoreLog> _opened = [];

    internal static readonly StoreOptions Small = new()
    {
        LogPageSize = 32 << 10,
        LogMemory = 256 << 10,
        SegmentSize = 128 << 10,
        Reserve = 128 << 10,
        Headroom = 0,
        HotBytes = 32 << 10,
        LogLimit = 512 << 10,
    };

    internal abstract OpenRecordLog Open { get; }

    private RecordingFiles Files { get; set; } = new();

    public ValueTask InitializeAsync() => ValueTask.CompletedTask;

    public async ValueTask DisposeAsync()
    {
        foreach (var log in _opened) await log.DisposeAsync();
        GC.SuppressFinalize(this);
    }

    [Fact]
    public async Task Records_of_all_regions_are_read_before_and_after_a_restart()
    {
        var log = await OpenAsync();
        TestRegion[] regions = [new(0), new(1), new(2)];
        for (var i = 0; i < 60; i++) await AppendAsync(log, regions[i % 3].Put(1 + i % 4));
        await AppendAsync(log, regions[1].Open());
        await CheckAsync(log, regions);
        log = await RestartAsync(log);
        Assert.Equal(StoreState.Serving, log.State);
        await CheckAsync(log, regions);
    }

    [Fact]
    public async Task Record_is_written_once_and_an_index_has_one_content()
    {
        var log = await OpenAsync();
        var region = new TestRegion(0);
        var record = region.Put();
        Assert.Equal(Status.Ok, log.TryAppend(record, out var first));
        Assert.Equal(Status.Ok, log.TryAppend(record, out var second));
        Assert.Equal(first, second);
        var other = new TestRegion(0);
        other.Records.Clear();
        var different = other.Put(2);
        Assert.Equal(Status.Conflict, log.TryAppend(different, out _));
        await log.WaitDurableAsync(first);
        log = await RestartAsync(log);
        Assert.Equal(Status.Conflict, log.TryAppend(different, out _));
        Assert.Equal(Status.Ok, log.TryAppend(record, out _));
        Assert.Equal(2, log.RecordsRead);
    }

    [Fact]
    public async Task Content_of_another_record_is_refused()
    {
        var log = await OpenAsync();
        var region = new TestRegion(0);
        var record = region.Put();
        Assert.Equal(Status.BadRequest, log.TryAppend(record with { Content = region.Put().Content }, out _));
        Assert.Equal(Status.BadRequest, log.TryAppend(record with { Content = new byte[5] }, out _));
        Assert.Null(log.Find(region.Key));
    }

    /// <summary>S8: what a sealed store shows of a generation is final.</summary>
    [Fact]
    public async Task Sealed_generation_is_refused_for_ever_and_the_next_one_is_taken()
    {
        var log = await OpenAsync();
        var region = new TestRegion(0);
        await AppendAsync(log, region.Put());
        Assert.Equal(Status.Ok, log.TrySeal(region.Key, new Epoch(2), out var lsn));
        await log.WaitDurableAsync(lsn);
        var late = region.Put();
        Assert.Equal(Status.Sealed, log.TryAppend(late, out _));
        log = await RestartAsync(log);
        Assert.Equal(Status.Sealed, log.TryAppend(late, out _));
        Assert.Equal(new RecordName(Epoch.First, 1), log.Find(region.Key)!.Last);
        region.Records.RemoveAt(1);
        region.Generation = new Epoch(2);
        await AppendAsync(log, region.Open());
        await CheckAsync(log, [region]);
    }

    [Fact]
    public async Task Record_that_was_there_before_the_seal_is_not_refused()
    {
        var log = await OpenAsync();
        var region = new TestRegion(0);
        var record = region.Put();
        await AppendAsync(log, record);
        Assert.Equal(Status.Ok, log.TrySeal(region.Key, new Epoch(2), out _));
        Assert.Equal(Status.Ok, log.TryAppend(record, out _));
    }

    /// <summary>S8: a seal ends what a generation writes, not what a recovery has proven of it.</summary>
    [Fact]
    public async Task Copy_is_taken_below_a_seal_and_replaces_another_record_of_the_name()
    {
        var (log, region, other) = (await OpenAsync(), new TestRegion(0), new TestRegion(0));
        other.Put(blocks: 2);
        await AppendAsync(log, other.Records[0]);
        var (first, second) = (region.Put(), region.Put());
        Assert.Equal(Status.Ok, log.TrySeal(region.Key, new Epoch(2), out _));
        Assert.Equal(Status.Conflict, log.TryAppend(first, out _));
        Assert.Equal(Status.Sealed, log.TryAppend(second, out _));
        Assert.Equal(Status.Ok, log.TryCopy(first, out _));
        Assert.Equal(Status.Ok, log.TryCopy(second, out var lsn));
        await log.WaitDurableAsync(lsn);
        Assert.Equal(Status.Ok, log.TryCopy(second, out var again));
        Assert.Equal(lsn, again);
        Assert.Equal(Status.BadRequest, log.TryCopy(second with { Content = first.Content }, out _));
        log = await RestartAsync(log);
        foreach (var record in region.Records)
        {
            var read = await log.ReadAsync(region.Key, TestRegion.NameOf(record));
            Assert.Equal(record.Encode(), read!.Encode());
        }
    }

    [Fact]
    public async Task Marks_checkpoints_and_floors_are_there_after_a_restart()
    {
        var log = await OpenAsync();
        var region = new TestRegion(0);
        for (var i = 0; i < 6; i++) await AppendAsync(log, region.Put());
        var (name, certificate) = region.Checkpoint(1);
        Assert.Equal(Status.Ok, log.TryMark(region.Key, region.Proof(5), out _));
        Assert.Equal(Status.Ok, log.TryMark(region.Key, region.Proof(4), out _));
        Assert.Equal(Status.Ok, log.TryCheckpoint(region.Key, name, certificate, out _));
        Assert.Equal(Status.Ok, log.TryRaiseFloor(region.Key, 4, out var lsn));
        await log.WaitDurableAsync(lsn);
        for (var round = 0; round < 2; round++)
        {
            var found = log.Find(region.Key)!;
            Assert.Equal(5, found.Commit!.Batch.Number);
            Assert.Equal([name], found.Checkpoints);
            Assert.Equal(4, found.Floor);
            Assert.Null(await log.ReadAsync(region.Key, new RecordName(Epoch.First, 4)));
            Assert.NotNull(await log.ReadAsync(region.Key, new RecordName(Epoch.First, 5)));
            log = await RestartAsync(log);
        }
    }

    [Fact]
    public async Task Forgotten_region_is_gone()
    {
        var log = await OpenAsync();
        TestRegion[] regions = [new(0), new(1)];
        foreach (var region in regions) await AppendAsync(log, region.Put());
        Assert.Equal(Status.Ok, log.TrySeal(regions[0].Key, new Epoch(9), out _));
        Assert.Equal(Status.Ok, log.TryForget(regions[0].Key, out var lsn));
        await log.WaitDurableAsync(lsn);
        for (var round = 0; round < 2; round++)
        {
            Assert.Null(log.Find(regions[0].Key));
            Assert.Equal([regions[1].Key], log.Regions.Select(region => region.Region));
            log = await RestartAsync(log);
        }
    }

    [Fact]
    public async Task Files_go_when_floors_rise_and_the_states_of_regions_stay()
    {
        var log = await OpenAsync();
        TestRegion[] regions = [new(0), new(1)];
        var (name, certificate) = regions[0].Checkpoint(1);
        log.TrySeal(regions[0].Key, Epoch.First, out _);
        log.TryMark(regions[0].Key, regions[0].Proof(3), out _);
        log.TryCheckpoint(regions[0].Key, name, certificate, out _);
        for (var i = 0; i < 120; i++) await AppendAsync(log, regions[i % 2].Put(2));
        Assert.Contains(0, Files.List());
        foreach (var region in regions) log.TryRaiseFloor(region.Key, region.LastIndex - 2, out _);
        await log.FreeAsync();
        Assert.InRange(Files.List().Count, 1, 3);
        for (var round = 0; round < 2; round++)
        {
            var found = log.Find(regions[0].Key)!;
            Assert.Equal((Epoch.First, 3L), (found.Sealed, found.Commit!.Batch.Number));
            Assert.Equal([name], found.Checkpoints);
            foreach (var region in regions)
            {
                Assert.Equal(TestRegion.NameOf(region.Records[^1]), log.Find(region.Key)!.Last);
                await CheckAsync(log, region, region.Records.TakeLast(2));
            }

            log = await RestartAsync(log);
        }
    }

    /// <summary>S19: a file goes only without what is still needed of it.</summary>
    [Fact]
    public async Task Slow_region_keeps_own_records_and_not_the_log_of_all()
    {
        var log = await OpenAsync();
        var (slow, busy) = (new TestRegion(0), new TestRegion(1));
        for (var i = 0; i < 4; i++) await AppendAsync(log, slow.Put(3));
        for (var i = 0; i < 200; i++)
        {
            await AppendAsync(log, busy.Put(2));
            if (i % 10 == 9) log.TryRaiseFloor(busy.Key, busy.LastIndex - 1, out _);
        }

        await log.FreeAsync();
        Assert.DoesNotContain(0, Files.List());
        Assert.InRange(log.Bytes, 0, Small.LogLimit);
        for (var round = 0; round < 2; round++)
        {
            await CheckAsync(log, slow, slow.Records);
            await CheckAsync(log, busy, busy.Records.TakeLast(1));
            log = await RestartAsync(log);
        }
    }

    [Fact]
    public async Task Log_that_is_needed_whole_is_not_written_again()
    {
        var log = await OpenAsync();
        var region = new TestRegion(0);
        for (var i = 0; i < 150; i++) await AppendAsync(log, region.Put(2));
        await log.FreeAsync();
        Assert.Contains(0, Files.List());
        log = await RestartAsync(log);
        Assert.Equal(151, log.RecordsRead);
        await CheckAsync(log, [region]);
    }

    [Fact]
    public async Task Damaged_data_costs_one_record_until_that_comes_again()
    {
        var log = await OpenAsync();
        var region = new TestRegion(0);
        for (var i = 0; i < 20; i++) await AppendAsync(log, region.Put(3));
        var record = region.Records[4];
        await log.DisposeAsync();
        Damage(record.Content.Span[^100..]);
        log = await OpenAsync();
        Assert.Equal((StoreState.Serving, 1), (log.State, log.Find(region.Key)!.Damaged));
        Assert.Null(await log.ReadAsync(region.Key, TestRegion.NameOf(record)));
        var (listed, _) = await log.ListAsync(region.Key, 1, 100);
        Assert.Equal(20, listed.Length);
        await AppendAsync(log, record);
        for (var round = 0; round < 2; round++)
        {
            Assert.Equal(0, log.Find(region.Key)!.Damaged);
            await CheckAsync(log, [region]);
            log = await RestartAsync(log);
        }
    }

    [Fact]
    public async Task Damaged_head_makes_a_store_that_only_shows_the_rest()
    {
        var log = await OpenAsync();
        var region = new TestRegion(0);
        for (var i = 0; i < 20; i++) await AppendAsync(log, region.Put(3));
        await log.DisposeAsync();
        var digest = new byte[16];
        region.Records[4].Head.Digest.Write(digest);
        Damage(digest);
        log = await OpenAsync();
        Assert.Equal(StoreState.Salvaged, log.State);
        Assert.Contains("Do not delete it", log.Damage, StringComparison.Ordinal);
        await CheckAsync(log, region, region.Records.Where((_, i) => i != 4));
        Assert.Null(await log.ReadAsync(region.Key, TestRegion.NameOf(region.Records[4])));
        Assert.Equal(Status.Failed, log.TryAppend(region.Put(), out _));
        Assert.Equal(Status.Failed, log.TrySeal(region.Key, new Epoch(2), out _));
    }

    /// <summary>The newest bytes are in memory: readers see no damage before a restart does.</summary>
    [Fact]
    public async Task Check_finds_damage_on_the_disk_and_only_the_right_copy_mends_the_record()
    {
        var log = await OpenAsync();
        TestRegion[] regions = [new(0), new(1)];
        for (var i = 0; i < 4; i++) await AppendAsync(log, regions[i % 2].Put(2));
        var region = regions[0];
        var record = region.Records[1];
        Damage(record.Content.Span[^100..]);
        Assert.NotNull(await log.ReadAsync(region.Key, TestRegion.NameOf(record)));
        Assert.Empty(await FindDamageAsync(log, regions[1]));
        var damaged = Assert.Single(await FindDamageAsync(log, region));
        Assert.Equal(new DamagedRecord(region.Key, TestRegion.NameOf(record), record.Head.Chain), damaged);
        Assert.Equal(Status.Corrupt, await log.MendAsync(damaged, region.Records[0].Encode()));
        Assert.Equal(Status.Corrupt, await log.MendAsync(damaged, default));
        var copy = record with { Certificate = region.Records[0].Certificate };
        var flipped = copy.Encode();
        flipped[^7] ^= 1;
        Assert.Equal(Status.Corrupt, await log.MendAsync(damaged, flipped));
        Assert.True(log.IsDamaged(damaged));
        Assert.Equal(Status.Ok, await log.MendAsync(damaged, copy.Encode()));
        Assert.False(log.IsDamaged(damaged));
        Assert.False(log.HasBrokenHead);
        log = await RestartAsync(log);
        Assert.Equal(StoreState.Serving, log.State);
        Assert.Empty(await FindDamageAsync(log, region));
        await CheckAsync(log, regions);
    }

    [Fact]
    public async Task Mended_record_whose_head_was_damaged_is_told_until_that_file_is_freed()
    {
        var log = await OpenAsync();
        var region = new TestRegion(0);
        for (var i = 0; i < 3; i++) await AppendAsync(log, region.Put(2));
        var record = region.Records[1];
        var digest = new byte[16];
        record.Head.Digest.Write(digest);
        Damage(digest);
        var damaged = Assert.Single(await FindDamageAsync(log, region));
        Assert.Equal(Status.Ok, await log.MendAsync(damaged, record.Encode()));
        Assert.True(log.HasBrokenHead);
        Assert.Empty(await FindDamageAsync(log, region));
        await CheckAsync(log, [region]);
        while (log.Bytes < 2 * Small.SegmentSize) await AppendAsync(log, region.Put(2));
        Assert.Equal(Status.Ok, log.TryRaiseFloor(region.Key, region.LastIndex - 1, out _));
        await log.FreeAsync();
        Assert.False(log.HasBrokenHead);
        Assert.Equal(StoreState.Serving, (await RestartAsync(log)).State);
    }

    [Fact]
    public async Task Check_of_a_long_log_goes_on_until_all_is_read()
    {
        var log = await OpenAsync(Small with { SegmentSize = 1 << 20, LogLimit = 4 << 20 });
        var region = new TestRegion(0);
        while (log.Bytes < 3 << 19) await AppendAsync(log, region.Put(7));
        var (bytes, next) = await log.CheckAsync(region.Key, 0);
        Assert.InRange(bytes, 1 << 20, (1 << 20) + (8 * TestRegion.BlockSize));
        Assert.NotNull(next);
        var record = region.Records[^1];
        Damage(record.Content.Span[^100..]);
        Assert.Equal(TestRegion.NameOf(record), Assert.Single(await FindDamageAsync(log, region)).Name);
    }

    [Fact]
    public async Task Log_that_came_back_short_is_salvaged()
    {
        var log = await OpenAsync();
        var region = new TestRegion(0);
        for (var i = 0; i < 40; i++) await AppendAsync(log, region.Put(3));
        await log.DisposeAsync();
        foreach (var segment in Files.List().Skip(2).ToArray()) Files.Delete(segment);
        log = await OpenAsync();
        Assert.Equal(StoreState.Salvaged, log.State);
        var (listed, _) = await log.ListAsync(region.Key, 1, 100);
        Assert.InRange(listed.Length, 1, 39);
        await CheckAsync(log, region, region.Records.Take(listed.Length));
    }

    [Fact]
    public async Task Log_of_another_store_is_never_this_ones()
    {
        var log = await OpenAsync();
        await AppendAsync(log, new TestRegion(0).Put());
        await log.DisposeAsync();
        log = new StoreLog(Files, Open, ThreadWorkers.Instance, new NodeId(Guid.NewGuid()), Small);
        _opened.Add(log);
        await log.RecoverAsync();
        Assert.Equal(StoreState.Salvaged, log.State);
        Assert.Empty(log.Regions);
    }

    [Fact]
    public async Task Listing_goes_on_by_pages()
    {
        var log = await OpenAsync();
        var region = new TestRegion(0);
        for (var i = 0; i < 10; i++) await AppendAsync(log, region.Put());
        var found = new List<RecordHead>();
        for (var from = 1L; ;)
        {
            var (page, hasMore) = await log.ListAsync(region.Key, from, 4);
            Assert.InRange(page.Length, 1, 4);
            found.AddRange(page.Select(record => record.Head));
            if (!hasMore) break;
            from = page[^1].Head.Index + 1;
        }

        Assert.Equal(region.Records.Select(record => record.Head), found);
        Assert.Empty((await log.ListAsync(new TestRegion(5).Key, 1, 4)).Records);
    }

    [Fact]
    public async Task Records_of_two_generations_at_one_index_are_both_listed()
    {
        var log = await OpenAsync();
        var (before, after) = (new TestRegion(0), new TestRegion(0) { Generation = new Epoch(2) });
        for (var i = 0; i < 3; i++)
        {
            await AppendAsync(log, before.Put());
            await AppendAsync(log, after.Put(2));
        }

        var (all, hasMore) = await log.ListAsync(before.Key, 2, 3);
        Assert.True(hasMore);
        Assert.Equal([(2L, 1L), (2L, 2L)], all.Select(r => (r.Head.Index, r.Head.Generation.Value)));
        (all, hasMore) = await log.ListAsync(before.Key, 3, 3);
        Assert.False(hasMore);
        Assert.Equal([(3L, 1L), (3L, 2L)], all.Select(r => (r.Head.Index, r.Head.Generation.Value)));
        await CheckAsync(log, [before, after]);
    }

    [Fact]
    public async Task Failed_sync_ends_the_log_and_every_wait()
    {
        var log = await OpenAsync();
        var region = new TestRegion(0);
        await AppendAsync(log, region.Put());
        Files.SyncError = new IOException("broken");
        Assert.Equal(Status.Ok, log.TryAppend(region.Put(), out var lsn));
        await Assert.ThrowsAsync<StoreFailedException>(() => log.WaitDurableAsync(lsn));
        Assert.Equal(StoreState.Failed, log.State);
        Assert.Equal(Status.Failed, log.TryAppend(region.Put(), out _));
        Files.SyncError = null;
    }

    [Fact]
    public async Task Full_disk_refuses_records_and_takes_seals()
    {
        Files.Capacity = 1 << 20;
        var log = await OpenAsync();
        var region = new TestRegion(0);
        var status = Status.Ok;
        for (var i = 0; i < 1000 && status != Status.NoSpace; i++)
        {
            var record = region.Put(2);
            status = log.TryAppend(record, out var lsn);
            if (status == Status.Ok) await log.WaitDurableAsync(lsn);
            else region.Records.RemoveAt(region.Records.Count - 1);
            if (status == Status.Overloaded) await Task.Delay(1);
        }

        Assert.Equal(Status.NoSpace, status);
        Assert.True(log.TakesDiscards);
        await AppendAsync(log, region.Put(0));
        status = Status.Ok;
        for (var i = 0; i < 1000 && status == Status.Ok; i++) status = log.TryAppend(region.Put(0), out _);
        region.Records.RemoveAt(region.Records.Count - 1);
        Assert.Equal((Status.NoSpace, false), (status, log.TakesDiscards));
        Assert.Equal(Status.Ok, log.TrySeal(region.Key, new Epoch(2), out var seal));
        await log.WaitDurableAsync(seal);
        log = await RestartAsync(log);
        Assert.Equal(new Epoch(2), log.Find(region.Key)!.Sealed);
        await CheckAsync(log, [region]);
    }

    /// <summary>Seed 954: a member never made the copies of its recovery, and the region stood still.</summary>
    [Fact]
    public async Task Record_that_ends_beyond_the_space_ahead_is_taken()
    {
        var log = await OpenAsync(Small with { SegmentSize = Small.LogPageSize });
        var region = new TestRegion(0);
        await AppendAsync(log, region.Put(3));
        var record = region.Put(7);
        var status = Status.Overloaded;
        for (var i = 0; i < 10_000 && status == Status.Overloaded; i++)
        {
            status = log.TryAppend(record, out _);
            if (status == Status.Overloaded) await Task.Delay(1);
        }

        Assert.Equal(Status.Ok, status);
    }

    private async Task<StoreLog> OpenAsync(StoreOptions? options = null)
    {
        var log = new StoreLog(Files, Open, ThreadWorkers.Instance, TestRegion.Store, options ?? Small);
        _opened.Add(log);
        await log.RecoverAsync();
        return log;
    }

    private async Task<StoreLog> RestartAsync(StoreLog log)
    {
        await log.DisposeAsync();
        Files = Files.Copy();
        return await OpenAsync();
    }

    internal static async Task AppendAsync(StoreLog log, RegionRecord record)
    {
        while (true)
        {
            var status = log.TryAppend(record, out var lsn);
            if (status == Status.Ok)
            {
                await log.WaitDurableAsync(lsn);
                return;
            }

            Assert.Equal(Status.Overloaded, status);
            await Task.Delay(1);
        }
    }

    private static async Task CheckAsync(StoreLog log, TestRegion[] regions)
    {
        foreach (var region in regions) await CheckAsync(log, region, region.Records);
    }

    private static async Task CheckAsync(StoreLog log, TestRegion region, IEnumerable<RegionRecord> expected)
    {
        foreach (var record in expected)
        {
            var found = await log.ReadAsync(region.Key, TestRegion.NameOf(record));
            Assert.NotNull(found);
            Assert.Equal(record.Head, found.Head);
            Assert.Equal(record.Certificate, found.Certificate);
            Assert.True(record.Content.Span.SequenceEqual(found.Content.Span));
        }
    }

    private static async Task<ImmutableArray<DamagedRecord>> FindDamageAsync(StoreLog log, TestRegion region)
    {
        for (long? next = 0; next is { } from;) (_, next) = await log.CheckAsync(region.Key, from);
        return [.. log.Damaged.Where(record => record.Region == region.Key)];
    }

    private void Damage(ReadOnlySpan<byte> pattern)
    {
        var found = 0;
        foreach (var segment in Files.List())
        {
            var bytes = new byte[Files.Length(segment)];
            Files.Read(segment, 0, bytes);
            var at = bytes.AsSpan().IndexOf(pattern);
            if (at < 0) continue;
            Files.Damage(segment, at + 3, b => (byte)(b ^ 0x10));
            found++;
        }

        Assert.Equal(1, found);
    }
}
