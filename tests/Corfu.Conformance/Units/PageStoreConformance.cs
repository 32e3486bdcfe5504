using Corfu.Unit;
using Xunit;

namespace Corfu.Conformance;

/// <summary>Duties of every page store, over any ports. Inherited once per implementation.</summary>
public abstract class PageStoreConformance : IAsyncLifetime
{
    private readonly List<IPageStore> _opened = [];

    /// <summary>False for stores that forget everything with the process.</summary>
    protected virtual bool Survives => true;

    /// <summary>A store on this test's device; a second call, after the first store is disposed, finds what the first
    /// one left.</summary>
    internal abstract IPageStore Create();

    public ValueTask InitializeAsync() => ValueTask.CompletedTask;

    public async ValueTask DisposeAsync()
    {
        foreach (var store in _opened) await store.DisposeAsync();
        Cleanup();
        GC.SuppressFinalize(this);
    }

    protected virtual void Cleanup()
    {
    }

    private async Task<StoreClient> OpenAsync()
    {
        var store = Create();
        _opened.Add(store);
        return await StoreClient.OpenAsync(store);
    }

    [Fact]
    public async Task New_store_is_empty()
    {
        var client = await OpenAsync();
        Assert.Equal(default, client.Store.Find(new LogPosition(0)));
        Assert.Equal(0, client.Store.Size.Pages);
    }

    [Fact]
    public async Task Slot_that_was_set_is_found()
    {
        var client = await OpenAsync();
        var slots = new Dictionary<long, PageSlot>();
        for (var i = 0; i < 5000; i++)
        {
            var position = ((long)i * 7919) + ((long)(i % 3) << 40);
            var slot = new PageSlot(
                (PageState)(1 + (i % 4)), i * 1000L, i, i % 977,
                new EntryOrigin(new WriterId(new Guid(i, 0, 0, new byte[8])), -i), i * 3L);
            slots[position] = slot;
            client.Store.Set(new LogPosition(position), slot);
        }

        foreach (var (position, slot) in slots) Assert.Equal(slot, client.Store.Find(new LogPosition(position)));
        Assert.Equal(default, client.Store.Find(new LogPosition(1)));
    }

    [Fact]
    public async Task A_slot_can_be_replaced()
    {
        var client = await OpenAsync();
        var position = new LogPosition(12);
        var slot = new PageSlot(PageState.Data, 100, 10, 5, new EntryOrigin(Entries.Writer, 3), 110);
        client.Store.Set(position, slot);
        client.Store.Set(position, slot with { State = PageState.Trimmed, Lsn = 200 });
        Assert.Equal(slot with { State = PageState.Trimmed, Lsn = 200 }, client.Store.Find(position));
    }

    [Fact]
    public async Task Sequence_numbers_rise_and_become_durable_in_order()
    {
        var client = await OpenAsync();
        var last = client.Store.DurableUntil;
        for (var i = 0; i < 100; i++)
        {
            var place = client.Append(Entries.Data(i));
            Assert.True(place.Lsn > last);
            Assert.True(place.BodyAddress < place.Lsn);
            last = place.Lsn;
        }

        await client.CommitAsync();
        Assert.True(client.Store.DurableUntil >= last);
    }

    [Fact]
    public async Task Durable_pages_read_back_whole_and_in_part()
    {
        var client = await OpenAsync();
        var places = new List<(RecordPlace Place, byte[] Entry)>();
        for (var i = 0; i < 200; i++)
        {
            var entry = Entries.Data(i, Payload(i * 37, i));
            places.Add((client.Append(entry), entry));
        }

        await client.CommitAsync();
        foreach (var (place, entry) in places)
        {
            Assert.Equal(entry, (await client.Store.ReadAsync(place.BodyAddress, entry.Length)).ToArray());
            Assert.Equal(entry[..40], (await client.Store.ReadAsync(place.BodyAddress, 40)).ToArray());
        }
    }

    [Fact]
    public async Task Many_pages_of_all_sizes_survive_a_reopening()
    {
        Assert.SkipUnless(Survives, "this store forgets");
        var client = await OpenAsync();
        var written = new List<byte[]>();
        for (var run = 0; run < 3; run++)
        {
            for (var i = 0; i < 300; i++)
            {
                var entry = Entries.Data(written.Count, Payload((i * 131) % 9000, i));
                client.Append(entry);
                written.Add(entry);
                if (i % 17 == 0) client.Store.Commit();
            }

            await client.CommitAsync();
            await client.Store.DisposeAsync();
            client = await OpenAsync();
            Assert.Equal(written.Count, client.Replayed.Count);
            for (var i = 0; i < written.Count; i++) Assert.Equal(written[i], client.Replayed[i].Body);
        }
    }

    [Fact]
    public async Task Replayed_pages_can_be_read_at_the_replayed_address()
    {
        Assert.SkipUnless(Survives, "this store forgets");
        var client = await OpenAsync();
        for (var i = 0; i < 50; i++) client.Append(Entries.Data(i, Payload(i * 97, i)));
        await client.CommitAsync();
        await client.Store.DisposeAsync();
        client = await OpenAsync();
        foreach (var (place, body) in client.Replayed)
        {
            Assert.Equal(body, (await client.Store.ReadAsync(place.BodyAddress, body.Length)).ToArray());
            Assert.True(place.PayloadIntact);
            Assert.True(place.Lsn <= client.Store.DurableUntil);
        }
    }

    [Fact]
    public async Task Disposal_commits_appended_records()
    {
        Assert.SkipUnless(Survives, "this store forgets");
        var client = await OpenAsync();
        client.Append(Entries.Data(0));
        await client.Store.DisposeAsync();
        client = await OpenAsync();
        Assert.Single(client.Replayed);
    }

    [Fact]
    public async Task Records_of_all_kinds_keep_all_fields()
    {
        Assert.SkipUnless(Survives, "this store forgets");
        var client = await OpenAsync();
        var records = new[]
        {
            new LogRecord(RecordKind.Install, new LogPosition(5, new Epoch(3))),
            new LogRecord(RecordKind.Seal, new LogPosition(0, new Epoch(4))),
            new LogRecord(RecordKind.Trim, new LogPosition(77)),
            new LogRecord(RecordKind.TrimPrefix, new LogPosition(9)),
            new LogRecord(RecordKind.Junk, new LogPosition(2, new Epoch(1)), Entries.Junk(2)),
        };
        foreach (var record in records) client.Store.Append(record);
        await client.CommitAsync();
        await client.Store.DisposeAsync();
        client = await OpenAsync();
        Assert.Equal(
            records.Select(r => (r.Kind, r.Position.Offset, r.Position.Epoch)),
            client.Records.Where(r => r.Kind != RecordKind.Open)
                .Select(r => (r.Kind, r.Position.Offset, r.Position.Epoch)));
    }

    protected static byte[] Payload(int length, int seed)
    {
        var bytes = new byte[length];
        for (var i = 0; i < length; i++) bytes[i] = (byte)(seed + (i * 31));
        return bytes;
    }
}
