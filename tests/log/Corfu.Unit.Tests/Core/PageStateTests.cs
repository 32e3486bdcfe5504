using System.Text;
using Corfu.Conformance;
using Corfu.Protocol;

namespace Corfu.Unit.Tests;

/// <summary>Every verb against every state of a page (TOCS Fig. 4): unwritten, data, junk, trimmed, below the mark,
/// corrupt.</summary>
public sealed class PageStateTests
{
    [Fact]
    public async Task Unwritten_reads_as_unwritten()
    {
        var unit = await CoreHarness.OpenAsync();
        Assert.Equal(PageState.Unwritten, unit.Page(7).State);
        Assert.Equal(PageState.Unwritten, unit.Page(7, ReadDetail.State).State);
        Assert.True(unit.Page(7).Bytes.IsEmpty);
    }

    [Fact]
    public async Task Written_page_reads_back_byte_for_byte()
    {
        var unit = await CoreHarness.OpenAsync();
        Assert.Equal(Status.Ok, unit.Write(7, payload: "hello").Status);
        var page = unit.Page(7);
        Assert.Equal(PageState.Data, page.State);
        Assert.Equal(Entries.Data(7, 1, "hello"), page.Bytes.ToArray());
        Assert.Equal(new EntryOrigin(Entries.Writer, 0), page.Origin);
    }

    [Fact]
    public async Task Second_write_loses_and_learns_the_winner()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(7, payload: "first", sequence: 11);
        var second = unit.Write(7, payload: "second", sequence: 12);
        Assert.Equal(Status.AlreadyWritten, second.Status);
        Assert.Equal(EntryKind.Data, second.Stored);
        Assert.Equal(11, second.StoredOrigin.Sequence);
        Assert.Contains("first", Encoding.UTF8.GetString(unit.Page(7).Bytes.Span));
    }

    [Fact]
    public async Task Fill_of_unwritten_makes_junk_and_write_then_loses()
    {
        var unit = await CoreHarness.OpenAsync();
        Assert.Equal(Status.Ok, unit.Fill(3).Status);
        Assert.Equal(PageState.Junk, unit.Page(3).State);
        var write = unit.Write(3);
        Assert.Equal(Status.AlreadyWritten, write.Status);
        Assert.Equal(EntryKind.Junk, write.Stored);
    }

    [Fact]
    public async Task Fill_of_data_loses_and_fill_of_junk_says_junk()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(3);
        unit.Fill(4);
        Assert.Equal(EntryKind.Data, unit.Fill(3).Stored);
        Assert.Equal(EntryKind.Junk, unit.Fill(4).Stored);
        Assert.Equal(Status.AlreadyWritten, unit.Fill(4).Status);
    }

    [Fact]
    public async Task Trimmed_page_refuses_everything_but_keeps_the_headers()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(5, streams: 300);
        Assert.Equal(Status.Ok, unit.Trim(5));
        Assert.Equal(Status.Ok, unit.Trim(5));
        Assert.Equal(Status.Trimmed, unit.Write(5).Status);
        Assert.Equal(Status.Trimmed, unit.Fill(5).Status);
        Assert.Equal(Status.Trimmed, unit.Complete(Entries.Data(5)).Status);
        var page = unit.Page(5);
        Assert.Equal(PageState.Trimmed, page.State);
        Assert.False(page.BelowMark);
        var tombstone = EntryCodec.DecodeHeaders(page.Bytes);
        Assert.Equal(new StreamId(300), Assert.Single(tombstone.Streams).Stream);
        Assert.Equal(EntryCodec.HeaderLength(page.Bytes.Span), page.Bytes.Length);
    }

    [Fact]
    public async Task Trim_of_unwritten_leaves_a_bare_mark()
    {
        var unit = await CoreHarness.OpenAsync();
        Assert.Equal(Status.Ok, unit.Trim(9));
        Assert.Equal(Status.Trimmed, unit.Write(9).Status);
        Assert.True(unit.Page(9).Bytes.IsEmpty);
        Assert.Equal(10, unit.Seal(2).End.Offset);
    }

    [Fact]
    public async Task Trim_of_unwritten_keeps_the_tombstone_of_the_request()
    {
        var unit = await CoreHarness.OpenAsync();
        var entry = Entries.Data(9, 1, "gone", 0, 300);
        Assert.Equal(Status.Ok, unit.Trim(9));
        Assert.Equal(Status.Ok, unit.Trim(9, tombstone: entry[..EntryCodec.HeaderLength(entry)]));
        var tombstone = EntryCodec.DecodeHeaders(unit.Page(9, ReadDetail.Headers).Bytes);
        Assert.Equal(new StreamId(300), Assert.Single(tombstone.Streams).Stream);
    }

    [Fact]
    public async Task Tombstone_of_another_position_is_refused()
    {
        var unit = await CoreHarness.OpenAsync();
        Assert.Equal(Status.BadRequest, unit.Trim(9, tombstone: Entries.Data(8)));
        Assert.Equal(Status.BadRequest, unit.Trim(9, tombstone: [1, 2, 3]));
        Assert.Equal(PageState.Unwritten, unit.Page(9).State);
    }

    [Fact]
    public async Task Prefix_trim_releases_exactly_the_positions_below()
    {
        var unit = await CoreHarness.OpenAsync();
        for (var i = 0; i < 6; i += 2) unit.Write(i);
        Assert.Equal(Status.Ok, unit.TrimPrefix(4));
        foreach (var position in new[] { 0, 1, 3 })
        {
            Assert.Equal(PageState.Trimmed, unit.Page(position).State);
            Assert.True(unit.Page(position).BelowMark);
            Assert.Equal(Status.Trimmed, unit.Write(position).Status);
            Assert.Equal(Status.Trimmed, unit.Fill(position).Status);
            Assert.Equal(Status.Ok, unit.Trim(position));
        }

        Assert.Equal(PageState.Data, unit.Page(4).State);
        Assert.Equal(PageState.Unwritten, unit.Page(5).State);
    }

    [Fact]
    public async Task Trim_mark_never_falls()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.TrimPrefix(10);
        Assert.Equal(Status.Ok, unit.TrimPrefix(4));
        Assert.Equal(10, unit.Seal(2).TrimMark.Offset);
    }

    [Fact]
    public async Task Corrupt_page_is_never_unwritten_never_filled_and_can_be_trimmed()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(5, streams: 300);
        unit.Damage(5);
        Assert.Equal(PageState.Corrupt, unit.Page(5).State);
        Assert.Equal(PageState.Corrupt, unit.Page(5, ReadDetail.State).State);
        Assert.Equal(Status.Corrupt, unit.Fill(5).Status);
        Assert.Equal(Status.Corrupt, unit.Write(5).Status);
        Assert.Equal(Status.Corrupt, unit.Complete(Entries.Data(5)).Status);
        Assert.NotEmpty(EntryCodec.DecodeHeaders(unit.Page(5, ReadDetail.Headers).Bytes).Streams);
        Assert.Equal(Status.Ok, unit.Trim(5));
        Assert.Equal(PageState.Trimmed, unit.Page(5).State);
    }

    [Fact]
    public async Task Headers_stop_before_the_payload()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(5, payload: new string('x', 1000), streams: [300, 301]);
        var headers = unit.Page(5, ReadDetail.Headers).Bytes;
        Assert.Equal(2, EntryCodec.DecodeHeaders(headers).Streams.Length);
        Assert.True(headers.Length < 200);
    }

    [Fact]
    public async Task Read_answers_in_request_order()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(1);
        unit.Fill(2);
        var pages = unit.Read(ReadDetail.State, 1, 3, 2, 1).Pages;
        Assert.Equal([PageState.Unwritten, PageState.Junk, PageState.Data], pages.Select(p => p.State));
        Assert.Equal([3L, 2, 1], pages.Select(p => p.Position.Offset));
    }

    [Fact]
    public async Task Read_stops_at_the_budget_but_never_before_one_page()
    {
        var unit = await CoreHarness.OpenAsync();
        var large = new string('x', 900_000);
        for (var i = 0; i < 4; i++) unit.Write(i, payload: large);
        Assert.Equal(2, unit.Read(ReadDetail.Full, 1, 0, 1, 2, 3).Pages.Length);
        Assert.Equal(4, unit.Read(ReadDetail.Headers, 1, 0, 1, 2, 3).Pages.Length);
        Assert.Single(unit.Read(ReadDetail.Full, 1, 3).Pages);
    }

    [Fact]
    public async Task Too_large_an_entry_is_refused()
    {
        var unit =
            await CoreHarness.OpenAsync(options: new UnitCoreOptions { Cluster = Entries.Cluster, MaxPayload = 10 });
        Assert.Equal(Status.Ok, unit.Write(1, payload: "0123456789").Status);
        Assert.Equal(Status.TooLarge, unit.Write(2, payload: "0123456789a").Status);
        Assert.Equal(PageState.Unwritten, unit.Page(2).State);
    }

    [Fact]
    public async Task Damaged_entry_is_refused_and_leaves_no_trace()
    {
        var unit = await CoreHarness.OpenAsync();
        var entry = Entries.Data(4);
        for (var i = 0; i < entry.Length; i++)
        {
            var damaged = (byte[])entry.Clone();
            damaged[i] ^= 0x10;
            Assert.Equal(Status.BadRequest, unit.Ask(new WriteRequest(new Epoch(1), damaged)).Status);
        }

        Assert.Equal(Status.BadRequest, unit.Ask(new WriteRequest(new Epoch(1), Array.Empty<byte>())).Status);
        Assert.Equal(PageState.Unwritten, unit.Page(4).State);
        Assert.Equal(0, unit.Seal(2).End.Offset);
    }

    [Fact]
    public async Task Each_verb_insists_on_one_kind_of_entry()
    {
        var unit = await CoreHarness.OpenAsync(installed: 2, start: 10);
        var epoch = new Epoch(2);
        Assert.Equal(Status.BadRequest, unit.Ask(new WriteRequest(epoch, Entries.Junk(12, 2))).Status);
        Assert.Equal(Status.BadRequest, unit.Ask(new FillRequest(epoch, Entries.Data(12, 2))).Status);
        // R4: an entry of another epoch is never written, only completed.
        Assert.Equal(Status.BadRequest, unit.Ask(new WriteRequest(epoch, Entries.Data(12, 1))).Status);
        Assert.Equal(Status.BadRequest, unit.Ask(new FillRequest(epoch, Entries.Junk(12, 1))).Status);
        Assert.Equal(Status.BadRequest, unit.Ask(new CompleteRequest(epoch, Entries.Data(12, 3))).Status);
        // No client was granted a position below the start in this epoch (R9).
        Assert.Equal(Status.BadRequest, unit.Ask(new WriteRequest(epoch, Entries.Data(9, 2))).Status);
        Assert.Equal(Status.Ok, unit.Ask(new CompleteRequest(epoch, Entries.Data(9, 1))).Status);
        Assert.Equal(Status.Ok, unit.Ask(new CompleteRequest(epoch, Entries.Junk(8, 1))).Status);
        Assert.Equal(Status.Ok, unit.Ask(new FillRequest(epoch, Entries.Junk(7, 2))).Status);
    }
}
