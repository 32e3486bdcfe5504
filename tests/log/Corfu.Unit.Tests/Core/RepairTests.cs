using Corfu.Conformance;
using Corfu.Protocol;

namespace Corfu.Unit.Tests;

/// <summary>R4: Corrupt is a state of its own, and only the identical entry ends it.</summary>
public sealed class RepairTests
{
    private static byte[] Entry(long position, string payload = "payload", long sequence = 0) =>
        Entries.Data(position, 1, payload, sequence, 300);

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task The_identical_entry_repairs_and_reads_back(bool headers)
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(5, streams: 300);
        unit.Damage(5, headers);
        Assert.Equal(1, unit.Ask(new UnitInfoRequest(Epoch.First)).CorruptPages);
        Assert.Equal(Status.Ok, unit.Repair(Entry(5)));
        var page = unit.Page(5);
        Assert.Equal(PageState.Data, page.State);
        Assert.Equal(Entry(5), page.Bytes.ToArray());
        Assert.Equal(0, unit.Ask(new UnitInfoRequest(Epoch.First)).CorruptPages);
    }

    [Fact]
    public async Task Any_other_entry_is_a_conflict()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(5, streams: 300);
        unit.Damage(5);
        Assert.Equal(Status.Conflict, unit.Repair(Entry(5, "qayload")));
        Assert.Equal(Status.Conflict, unit.Repair(Entry(5, "payloads")));
        Assert.Equal(Status.Conflict, unit.Repair(Entry(5, sequence: 1)));
        Assert.Equal(Status.Conflict, unit.Repair(Entries.Data(5)));
        Assert.Equal(Status.Conflict, unit.Repair(Entries.Junk(5, 1, 300)));
        Assert.Equal(PageState.Corrupt, unit.Page(5).State);
    }

    [Fact]
    public async Task Repair_of_damaged_headers_with_another_origin_or_length_is_a_conflict()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(5, streams: 300);
        unit.Damage(5, headers: true);
        Assert.Equal(Status.Conflict, unit.Repair(Entry(5, sequence: 1)));
        Assert.Equal(Status.Conflict, unit.Repair(Entry(5, "payloads")));
        Assert.Equal(Status.Ok, unit.Repair(Entry(5)));
    }

    [Fact]
    public async Task Repair_never_writes_an_entry_that_was_not_there()
    {
        var unit = await CoreHarness.OpenAsync();
        Assert.Equal(Status.Unwritten, unit.Repair(Entry(5)));
        unit.Write(6, streams: 300);
        Assert.Equal(Status.Ok, unit.Repair(Entry(6)));
        Assert.Equal(Status.Conflict, unit.Repair(Entry(6, sequence: 1)));
        unit.Fill(7);
        Assert.Equal(Status.Conflict, unit.Repair(Entry(7)));
        unit.Trim(6);
        Assert.Equal(Status.Trimmed, unit.Repair(Entry(6)));
        unit.TrimPrefix(10);
        Assert.Equal(Status.Trimmed, unit.Repair(Entry(8)));
        Assert.Equal(Status.BadRequest, unit.Repair([1, 2, 3]));
        Assert.Equal(Status.BadRequest, unit.Repair(Entries.Data(20, 2)));
        Assert.Equal(Status.Sealed, unit.Repair(Entry(20), epoch: 0));
        Assert.Equal(Status.NotInstalled, unit.Repair(Entry(20), epoch: 2));
    }

    [Fact]
    public async Task Damaged_junk_is_repaired_with_the_same_junk()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Fill(5, 1, 300);
        unit.Damage(5, headers: true);
        Assert.Equal(PageState.Corrupt, unit.Page(5).State);
        Assert.Equal(Status.Conflict, unit.Repair(Entry(5)));
        Assert.Equal(Status.Ok, unit.Repair(Entries.Junk(5, 1, 300)));
        Assert.Equal(PageState.Junk, unit.Page(5).State);
    }

    [Fact]
    public async Task Trim_of_a_page_with_damaged_headers_takes_the_tombstone_of_the_request()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(5, streams: 300);
        unit.Damage(5, headers: true);
        Assert.Equal(Status.Ok, unit.Trim(5, tombstone: Entry(5)));
        var page = unit.Page(5);
        Assert.Equal(PageState.Trimmed, page.State);
        Assert.Equal(new StreamId(300), Assert.Single(EntryCodec.DecodeHeaders(page.Bytes).Streams).Stream);
    }

    [Fact]
    public async Task A_late_finding_of_damage_does_not_undo_a_repair()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(5, streams: 300);
        var before = unit.Store.Find(new LogPosition(5)).Address;
        unit.Damage(5);
        Assert.Equal(Status.Ok, unit.Repair(Entry(5)));
        unit.Core.MarkCorrupt(new LogPosition(5), before, default);
        Assert.Equal(PageState.Data, unit.Page(5).State);
    }

    [Fact]
    public async Task Verify_checks_the_page_and_answers_with_the_headers()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(5, payload: new string('x', 1000), streams: 300);
        var page = unit.Page(5, ReadDetail.Verify);
        Assert.Equal(PageState.Data, page.State);
        Assert.Equal(unit.Page(5, ReadDetail.Headers).Bytes.ToArray(), page.Bytes.ToArray());
        Assert.Equal(PageState.Unwritten, unit.Page(6, ReadDetail.Verify).State);
    }

    /// <summary>A single bad transfer is no damage: a page is marked when two reads in a row find it damaged.</summary>
    [Theory]
    [InlineData(1, PageState.Data)]
    [InlineData(2, PageState.Corrupt)]
    public async Task Page_is_damaged_when_two_reads_in_a_row_find_damage(int badReads, PageState state)
    {
        var store = new FaultyStore();
        var core = await UnitCore.OpenAsync(store, new UnitCoreOptions { Cluster = Entries.Cluster });
        core.Handle(new InstallRequest(Entries.Projection(1)));
        core.Handle(new WriteRequest(Epoch.First, Entry(5)));
        var plan = core.Handle(new ReadRequest(Epoch.First, Entries.Positions(5), ReadDetail.Full)).Plan!;
        store.BadReads = badReads;
        Assert.Equal(state, (await PageReader.ReadAsync(store, plan, core)).Pages[0].State);
        Assert.Equal(state, store.Find(new LogPosition(5)).State);
    }

    /// <summary>
    /// Two bad transfers are none either: the page may be the only copy of an entry that its writer left half-written,
    /// which no client could complete while it counts as damaged (found by the simulator's seed 2267).
    /// </summary>
    [Theory]
    [InlineData(ReadDetail.Full, false)]
    [InlineData(ReadDetail.Full, true)]
    [InlineData(ReadDetail.Verify, false)]
    public async Task A_marked_page_that_is_read_whole_counts_again(ReadDetail detail, bool headers)
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(5, streams: 300);
        unit.Misread(5, headers);
        Assert.Equal(PageState.Corrupt, unit.Page(5, ReadDetail.State).State);
        var page = unit.Page(5, detail);
        Assert.Equal(PageState.Data, page.State);
        Assert.Equal(detail == ReadDetail.Full ? Entry(5) : unit.Page(5, ReadDetail.Headers).Bytes.ToArray(),
            page.Bytes.ToArray());
        Assert.Equal(PageState.Data, unit.Page(5, ReadDetail.State).State);
        Assert.Equal(0, unit.Core.CorruptPages);
        Assert.Equal(Status.AlreadyWritten, unit.Write(5, sequence: 7).Status);
    }

    [Fact]
    public async Task Marked_junk_that_is_read_whole_is_junk_again()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Fill(5, 1, 300);
        unit.Misread(5);
        Assert.Equal(PageState.Junk, unit.Page(5).State);
        Assert.Empty(unit.Tails(300));
    }

    [Fact]
    public async Task Another_sound_entry_in_the_damaged_ones_place_does_not_count()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(5, streams: 300);
        unit.Misread(5);
        var slot = unit.Store.Find(new LogPosition(5));
        Assert.False(unit.Core.MarkSound(new LogPosition(5), slot.Address, Entry(5, "qayload")));
        Assert.False(unit.Core.MarkSound(new LogPosition(5), slot.Address, Entry(6)));
        Assert.False(unit.Core.MarkSound(new LogPosition(5), slot.Address, new byte[slot.Length]));
        Assert.Equal(PageState.Corrupt, unit.Page(5, ReadDetail.State).State);
    }
}
