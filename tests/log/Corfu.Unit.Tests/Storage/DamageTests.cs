using System.Buffers.Binary;
using Corfu.Conformance;
using Corfu.Protocol;
using Corfu.Storage;

namespace Corfu.Unit.Tests;

/// <summary>R6: what was acknowledged and is damaged or missing makes the unit refuse to start; only a true tail is
/// cut.</summary>
public sealed class DamageTests : IDisposable
{
    private readonly TempFolder _folder = new();

    private string Scratch => Path.Combine(_folder.Path, "map");

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task A_flipped_bit_in_any_record_header_mid_log_is_refused_and_in_the_entry_makes_the_page_corrupt()
    {
        var (files, places) = await WriteAsync(40);
        var (place, entry) = places[20];
        var record = place.BodyAddress - RecordCodec.HeaderSize;
        var payload = place.BodyAddress + EntryCodec.HeaderLength(entry);
        var headerless = 0;
        for (var at = record; at < place.BodyAddress + entry.Length; at++)
        {
            var damaged = files.Copy();
            Flip(damaged, at);
            if (at < place.BodyAddress)
            {
                await Assert.ThrowsAsync<LogDamagedException>(() => ScanAsync(damaged));
                continue;
            }

            var found = await ScanAsync(damaged);
            Assert.Equal(40, found.Count);
            Assert.Equal(at < payload, found[20].Place.DamagedHeaders is not null);
            if (at < payload) headerless++;
            Assert.All(found.Select((f, i) => (f, i)), f => Assert.Equal(f.i != 20, f.f.Place.PayloadIntact));
        }

        Assert.True(headerless >= EntryCodec.FixedSize);
    }

    [Fact]
    public async Task Unreadable_headers_make_stream_tails_incomplete_until_the_repair()
    {
        var (files, places) = await WriteAsync(10);
        Flip(files, places[4].Place.BodyAddress + 20);
        for (var run = 0; run < 2; run++)
        {
            await using var store = PageStore.OnFaster(files, Stores.Unit, Stores.Small, Scratch);
            var unit = await HandlerClient.OpenAsync(store);
            await unit.AskAsync(new SealRequest(new Epoch(2)));
            await unit.AskAsync(new InstallRequest(Entries.Projection(2, 10)));
            var tails = await unit.AskAsync(new StreamTailsRequest(new Epoch(2), [new StreamId(300)]));
            Assert.Equal(run == 1, tails.Complete);
            if (run == 1)
            {
                Assert.Equal([9L, 8, 7, 6], tails.Tails[0].Positions.Select(p => p.Offset));
                continue;
            }

            var read = await unit.AskAsync(new ReadRequest(new Epoch(2), Entries.Positions(4), ReadDetail.Full));
            Assert.Equal(PageState.Corrupt, Assert.Single(read.Pages).State);
            var other = Entries.Data(4, new byte[64], sequence: 5, streams: 300);
            Assert.Equal(places[4].Entry.Length, other.Length);
            Assert.Equal(Status.Conflict, (await unit.AskAsync(new RepairRequest(new Epoch(2), other))).Status);
            Assert.Equal(Status.Ok, (await unit.AskAsync(new RepairRequest(new Epoch(2), places[4].Entry))).Status);
            Assert.True((await unit.AskAsync(new StreamTailsRequest(new Epoch(2), [new StreamId(300)]))).Complete);
        }
    }

    /// <summary>A page that the start could not read may be read later: it counts again, and so do its
    /// streams.</summary>
    [Fact]
    public async Task Headers_that_can_be_read_after_all_make_stream_tails_complete_again()
    {
        var (files, places) = await WriteAsync(10);
        Flip(files, places[8].Place.BodyAddress + 20);
        await using var store = PageStore.OnFaster(files, Stores.Unit, Stores.Small, Scratch);
        var unit = await HandlerClient.OpenAsync(store);
        Assert.Equal(1, (await unit.AskAsync(new UnitInfoRequest(Epoch.First))).CorruptPages);
        Flip(files, places[8].Place.BodyAddress + 20);
        var page =
            Assert.Single(
                (await unit.AskAsync(new ReadRequest(Epoch.First, Entries.Positions(8), ReadDetail.Full))).Pages);
        Assert.Equal(PageState.Data, page.State);
        Assert.Equal(places[8].Entry, page.Bytes.ToArray());
        Assert.Equal(0, (await unit.AskAsync(new UnitInfoRequest(Epoch.First))).CorruptPages);
        await unit.AskAsync(new SealRequest(new Epoch(2)));
        await unit.AskAsync(new InstallRequest(Entries.Projection(2, 10)));
        var tails = await unit.AskAsync(new StreamTailsRequest(new Epoch(2), [new StreamId(300)]));
        Assert.True(tails.Complete);
        Assert.Equal([9L, 8, 7, 6], tails.Tails[0].Positions.Select(p => p.Offset));
    }

    [Fact]
    public async Task The_damage_of_the_last_page_is_noticed_after_a_clean_end()
    {
        var (files, places) = await WriteAsync(40);
        Flip(files, places[^1].Place.BodyAddress - 3);
        await Assert.ThrowsAsync<LogDamagedException>(() => ScanAsync(files));
    }

    [Fact]
    public async Task The_store_itself_refuses_too_and_leaves_the_disk_alone()
    {
        var (files, places) = await WriteAsync(40);
        Flip(files, places[10].Place.BodyAddress - 3);
        var writes = files.Events.Count;
        await using var store = PageStore.OnFaster(files, Stores.Unit, Stores.Small, Scratch);
        var error =
            await Assert.ThrowsAsync<LogDamagedException>(
                async () => await UnitCore.OpenAsync(store, new UnitCoreOptions { Cluster = Entries.Cluster }));
        Assert.Contains("Rebuild this unit", error.Message);
        Assert.Equal(writes, files.Events.Count);
    }

    [Fact]
    public async Task A_corrupt_page_stays_corrupt_over_restarts()
    {
        var (files, places) = await WriteAsync(10);
        Flip(files, places[4].Place.BodyAddress + EntryCodec.HeaderLength(places[4].Entry));
        for (var run = 0; run < 2; run++)
        {
            await using var store = PageStore.OnFaster(files, Stores.Unit, Stores.Small, Scratch);
            var core = await UnitCore.OpenAsync(store, new UnitCoreOptions { Cluster = Entries.Cluster });
            core.Handle(new InstallRequest(Entries.Projection(1)));
            var read = core.Handle(new ReadRequest(Epoch.First, Entries.Positions(3, 4), ReadDetail.State));
            Assert.Equal([PageState.Data, PageState.Corrupt],
                ((ReadResponse)read.Response!).Pages.Select(p => p.State));
            var fill = core.Handle(new FillRequest(Epoch.First, Entries.Junk(4)));
            Assert.Equal(Status.Corrupt, fill.Response!.Status);
        }
    }

    /// <summary>The floor of a torn record is proof as well, and a start that is cut short while it erases the torn end
    /// must not have destroyed it.</summary>
    [Fact]
    public async Task Damage_that_only_the_torn_end_proves_stays_proven_while_the_end_is_erased()
    {
        var (written, places) = await WriteAsync(40);
        // Pages are committed in fives: what follows 34 proves it, and nothing proves 35.
        var disk = written.Copy();
        foreach (var at in new[] { 34, 35 })
            Flip(disk, places[at].Place.BodyAddress + EntryCodec.HeaderLength(places[at].Entry));
        var mark = new DurableMark(disk, Id);
        for (var slot = 0; slot < 2; slot++) await mark.WriteAsync(places[29].Place.Lsn);
        disk = disk.Copy();
        var before = disk.Copy();
        await using (var store = PageStore.OnFaster(disk, Stores.Unit, Stores.Small, Scratch))
            await StoreClient.OpenAsync(store);
        for (var events = 0; events <= disk.Events.Count; events++)
        {
            foreach (var kept in new Range[][] { [], [Range.All] })
            {
                var found = await ScanAsync(disk.AfterCrash(before, events, _ => kept));
                Assert.Equal(35, found.Count);
                Assert.Equal([34], found.Index().Where(f => !f.Item.Place.PayloadIntact).Select(f => f.Index));
            }
        }
    }

    [Fact]
    public async Task A_repaired_page_is_good_again_over_restarts()
    {
        var (files, places) = await WriteAsync(10);
        Flip(files, places[4].Place.BodyAddress + EntryCodec.HeaderLength(places[4].Entry));
        for (var run = 0; run < 3; run++)
        {
            await using var store = PageStore.OnFaster(files, Stores.Unit, Stores.Small, Scratch);
            var unit = await HandlerClient.OpenAsync(store);
            if (run == 0)
            {
                Assert.Equal(Status.Conflict,
                    (await unit.AskAsync(new RepairRequest(Epoch.First,
                        Entries.Data(4, new byte[63], sequence: 4, streams: 300)))).Status);
                Assert.Equal(1, (await unit.AskAsync(new UnitInfoRequest(Epoch.First))).CorruptPages);
                Assert.Equal(Status.Ok, (await unit.AskAsync(new RepairRequest(Epoch.First, places[4].Entry))).Status);
            }

            var read = await unit.AskAsync(new ReadRequest(Epoch.First, Entries.Positions(4), ReadDetail.Full));
            Assert.Equal(places[4].Entry, Assert.Single(read.Pages).Bytes.ToArray());
            Assert.Equal(0, (await unit.AskAsync(new UnitInfoRequest(Epoch.First))).CorruptPages);
        }
    }

    [Fact]
    public async Task Damage_that_a_read_meets_is_repaired_in_the_same_run()
    {
        var (files, places) = await WriteAsync(10);
        await using var store = PageStore.OnFaster(files, Stores.Unit, Stores.Small, Scratch);
        var unit = await HandlerClient.OpenAsync(store);
        Flip(files, places[4].Place.BodyAddress + 90);
        Flip(files, places[5].Place.BodyAddress + EntryCodec.HeaderLength(places[5].Entry));
        foreach (var detail in new[] { ReadDetail.Verify, ReadDetail.Full })
        {
            var read = await unit.AskAsync(new ReadRequest(Epoch.First, Entries.Positions(3, 4, 5), detail));
            Assert.Equal([PageState.Data, PageState.Corrupt, PageState.Corrupt], read.Pages.Select(p => p.State));
        }

        foreach (var at in new[] { 4, 5 })
            Assert.Equal(Status.Ok, (await unit.AskAsync(new RepairRequest(Epoch.First, places[at].Entry))).Status);
        var good = await unit.AskAsync(new ReadRequest(Epoch.First, Entries.Positions(4, 5), ReadDetail.Full));
        Assert.Equal([places[4].Entry, places[5].Entry], good.Pages.Select(p => p.Bytes.ToArray()));
    }

    [Fact]
    public async Task A_missing_segment_in_the_middle_is_refused()
    {
        var (files, _) = await WriteAsync(1000);
        Assert.True(files.List().Count >= 4);
        files.Delete(files.List()[1]);
        await Assert.ThrowsAsync<LogDamagedException>(() => ScanAsync(files));
    }

    [Fact]
    public async Task A_missing_beginning_is_refused_by_the_store()
    {
        var (files, _) = await WriteAsync(1000);
        files.Delete(0);
        await using var store = PageStore.OnFaster(files, Stores.Unit, Stores.Small, Scratch);
        await Assert.ThrowsAsync<LogDamagedException>(async () => await store.RecoverAsync((in _, in _) => { }));
    }

    [Fact]
    public async Task A_log_that_came_back_short_is_refused()
    {
        var (files, places) = await WriteAsync(1000);
        // Everything from some segment boundary on is gone, as if the files had never been extended: no record is left
        // to tell.
        var cut = (int)(places[500].Place.Lsn / Stores.Small.SegmentSize);
        foreach (var segment in files.List().Where(s => s > cut).ToList()) files.Delete(segment);
        await Assert.ThrowsAsync<LogDamagedException>(() => ScanAsync(files));
    }

    [Fact]
    public async Task An_emptied_log_is_refused()
    {
        var (files, _) = await WriteAsync(10);
        foreach (var segment in files.List().ToList()) files.Delete(segment);
        await Assert.ThrowsAsync<LogDamagedException>(() => ScanAsync(files));
    }

    [Fact]
    public async Task Another_units_log_is_refused()
    {
        var (files, _) = await WriteAsync(10);
        var other = new NodeId(new Guid("bbbbbbbb-0000-0000-0000-000000000001"));
        var scanner = new LogScanner(new SegmentImage(files, Stores.Small.SegmentSize), RecordCodec.LogIdOf(other));
        await Assert.ThrowsAsync<LogDamagedException>(async () => await scanner.ScanAsync(0, (in _, in _) => { }));
    }

    [Theory]
    [InlineData(RecordKind.Freed)]
    [InlineData(RecordKind.State)]
    public async Task A_record_that_makes_no_sense_is_told_as_damage(object kind)
    {
        var files = new RecordingFiles();
        await using (var store = PageStore.OnFaster(files, Stores.Unit, Stores.Small, Scratch))
        {
            var client = await StoreClient.OpenAsync(store);
            // The record's checks fit, so it is no torn tail: only its body is too short.
            store.Append(new LogRecord((RecordKind)kind, LogPosition.Zero, new byte[3]));
            await client.CommitAsync();
        }

        await using var unit = PageStore.OnFaster(files, Stores.Unit, Stores.Small, Scratch);
        await Assert.ThrowsAsync<LogDamagedException>(
            async () => await UnitCore.OpenAsync(unit, new UnitCoreOptions { Cluster = Entries.Cluster }));
    }

    [Fact]
    public async Task Stale_commit_records_of_the_log_cut_no_record_off()
    {
        var (files, places) = await WriteAsync(100);
        // A commit frame of early on, copied behind the end, and over the zeros between two runs.
        var frame = FirstCommitFrame(files);
        var end = places[^1].Place.Lsn;
        for (var copy = 0; copy < 8; copy++) files.Write(0, end + 512 + (copy * 128), frame);
        Assert.Equal(100, (await ScanAsync(files)).Count);
        await using var store = PageStore.OnFaster(files, Stores.Unit, Stores.Small, Scratch);
        var client = await StoreClient.OpenAsync(store);
        Assert.Equal(100, client.Replayed.Count);
    }

    [Fact]
    public async Task Pages_of_an_earlier_run_behind_the_tail_do_not_come_back()
    {
        var (files, places) = await WriteAsync(30);
        // As if the last ten had been written but never synced, and the first of them got lost: the rest is valid, and
        // must not count.
        var lost = places[20];
        var record = (int)(lost.Place.BodyAddress - RecordCodec.HeaderSize);
        for (var at = record; at < lost.Place.Lsn; at++) files.Damage(0, at, _ => 0);
        var scanner = new LogScanner(new UnsyncedImage(files, lost.Place.BodyAddress - RecordCodec.HeaderSize), Id);
        var found = 0;
        var tail = await scanner.ScanAsync(0, (in r, in _) => found += r.Kind == RecordKind.Page ? 1 : 0);
        Assert.Equal(20, found);
        Assert.True(tail.TornBytes);
    }

    private static uint Id => RecordCodec.LogIdOf(Stores.Unit);

    private async Task<(RecordingFiles Files, List<(RecordPlace Place, byte[] Entry)> Places)> WriteAsync(int pages)
    {
        var files = new RecordingFiles();
        await using var store = PageStore.OnFaster(files, Stores.Unit, Stores.Small, Scratch);
        return (files, await AppendAsync(store, pages));
    }

    private static async Task<List<(RecordPlace Place, byte[] Entry)>> AppendAsync(IPageStore store, int pages)
    {
        var places = new List<(RecordPlace, byte[])>();
        var client = await StoreClient.OpenAsync(store);
        for (var i = 0; i < pages; i++)
        {
            var entry = Entries.Data(i, new byte[60 + (i % 50)], sequence: i, streams: 300);
            places.Add((client.Append(entry), entry));
            if (i % 5 == 4) await client.CommitAsync();
        }

        await client.CommitAsync();
        return places;
    }

    private static async Task<List<(RecordPlace Place, byte[] Body)>> ScanAsync(RecordingFiles files)
    {
        var found = new List<(RecordPlace, byte[])>();
        await new LogScanner(new SegmentImage(files, Stores.Small.SegmentSize), Id).ScanAsync(
            new DurableMark(files, Id).Read(),
            (in record, in place) =>
            {
                if (record.Kind == RecordKind.Page) found.Add((place, record.Body.ToArray()));
            });
        return found;
    }

    private static void Flip(RecordingFiles files, long address) =>
        files.Damage((int)(address / Stores.Small.SegmentSize), address % Stores.Small.SegmentSize, b => (byte)(b ^ 4));

    // FASTER marks commit records by a negative length in the frame header: XOR (8), length (4).
    private static byte[] FirstCommitFrame(RecordingFiles files)
    {
        var bytes = new byte[4096];
        files.Read(0, 0, bytes);
        for (var at = 64; at < bytes.Length - 128; at += 4)
        {
            var length = BinaryPrimitives.ReadInt32LittleEndian(bytes.AsSpan(at + 8));
            if (length is < -30 and > -100) return bytes[at..(at + 12 - length)];
        }

        throw new InvalidOperationException("No commit record found.");
    }

    /// <summary>The image as it was before the floors of the last records: their headers are rewritten to claim no more
    /// than the given end.</summary>
    private sealed class UnsyncedImage(RecordingFiles files, long end) : ILogImage
    {
        private readonly SegmentImage _image = new(files, Stores.Small.SegmentSize);

        public long Begin => _image.Begin;

        public long End => _image.End;

        public async ValueTask ReadAsync(long address, Memory<byte> buffer)
        {
            await _image.ReadAsync(address, buffer);
            for (var at = IRecordLog.Align(Math.Max(address, end)); at + 512 < address + buffer.Length;
                at += IRecordLog.Alignment)
            {
                var span = buffer.Span[(int)(at - address)..];
                if (!RecordCodec.TryDecode(span, at, out var header) || header.Floor <= end) continue;
                var body = span.Slice(RecordCodec.HeaderSize, header.BodyLength).ToArray();
                RecordCodec.Encode(
                    new LogRecord(header.Kind, header.Position, body, header.CheckedLength),
                    at, header.Previous, 0, header.Incarnation, header.LogId,
                    span[..(RecordCodec.HeaderSize + body.Length)]);
            }
        }
    }
}
