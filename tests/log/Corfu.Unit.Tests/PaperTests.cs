using Corfu.Conformance;
using Corfu.Protocol;

namespace Corfu.Unit.Tests;

/// <summary>A test per claim of "CORFU: A Distributed Shared Log" (TOCS 2013), section 2.1 and Figure 4, about storage
/// units.</summary>
public sealed class PaperTests
{
    [Fact] // 2.1: "Reads on pages that have not yet been written should return an error code (err_unwritten)."
    public async Task Read_of_unwritten_returns_err_unwritten()
    {
        var unit = await CoreHarness.OpenAsync();
        Assert.Equal(PageState.Unwritten, unit.Page(1 << 30).State);
    }

    [Fact] // 2.1: "Writes on pages that have already been written should also return an error code (err_written)."
    public async Task Write_of_written_returns_err_written()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(5);
        Assert.Equal(Status.AlreadyWritten, unit.Write(5).Status);
    }

    [Fact] // 2.1: "Reading a previously deleted page should return an err_deleted error code."
    public async Task Read_of_deleted_returns_err_deleted()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(5);
        unit.Trim(5);
        Assert.Equal(PageState.Trimmed, unit.Page(5).State);
    }

    // 2.1: "A write to an address that exists in the hash-map returns err_deleted if the deleted bit is set and
    // err_written if it is not."
    [Fact]
    public async Task Write_of_deleted_returns_err_deleted()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(5);
        unit.Trim(5);
        Assert.Equal(Status.Trimmed, unit.Write(5).Status);
    }

    [Fact] // 2.1: "an infinite, logical address space": pages far apart cost no more than pages side by side.
    public async Task The_address_space_is_sparse_and_64_bits_wide()
    {
        var unit = await CoreHarness.OpenAsync();
        foreach (var position in new[] { 0L, 1L << 40, 1L << 41 })
            Assert.Equal(Status.Ok, unit.Write(position).Status);
        Assert.Equal(PageState.Data, unit.Page(1L << 40).State);
        Assert.Equal(3, unit.Ask(new UnitInfoRequest(Epoch.First)).Pages);
    }

    // 2.1: "Reads and writes to addresses before the watermark that are not in the hash-map return err_deleted
    // immediately."
    [Fact]
    public async Task Everything_below_the_watermark_is_deleted()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.TrimPrefix(100);
        Assert.Equal(PageState.Trimmed, unit.Page(50).State);
        Assert.Equal(Status.Trimmed, unit.Write(50).Status);
    }

    // 2.1: "Junk writes are initially treated as conventional writes, either succeeding or returning err_written or
    // err_deleted."
    [Fact]
    public async Task Junk_is_written_once_like_data()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(1);
        unit.Trim(2);
        Assert.Equal(Status.Ok, unit.Fill(0).Status);
        Assert.Equal(Status.AlreadyWritten, unit.Fill(1).Status);
        Assert.Equal(Status.Trimmed, unit.Fill(2).Status);
    }

    [Fact] // 2.1: "this ensures that storage pages are not wasted": junk carries headers at most, never a payload.
    public async Task Junk_with_a_payload_is_refused()
    {
        var unit = await CoreHarness.OpenAsync();
        var entry = new LogEntry(
            new LogPosition(0, Epoch.First), new EntryOrigin(Entries.Writer, 0), EntryKind.Junk,
            DateTimeOffset.UnixEpoch, [], new byte[4096]);
        Assert.Equal(Status.BadRequest, unit.Ask(new FillRequest(Epoch.First, EntryCodec.Encode(entry))).Status);
    }

    // 2.1: "When a particular epoch number is sealed at a storage unit, it must reject all subsequent messages sent
    // with an epoch equal or lower." Our Seal names the first epoch that is not rejected.
    [Fact]
    public async Task A_seal_rejects_every_lower_epoch()
    {
        var unit = await CoreHarness.OpenAsync(installed: 6);
        unit.Seal(7);
        for (var epoch = 1; epoch < 7; epoch++) Assert.Equal(Status.Sealed, unit.Write(0, epoch).Status);
    }

    // 2.1: the acknowledgment of a seal includes "the highest logical page address that has been written on its address
    // space thus far".
    [Fact]
    public async Task A_seal_reports_the_highest_address()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(17);
        unit.Write(9);
        Assert.Equal(18, unit.Seal(2).End.Offset);
    }

    // 2.1: "When a seal command arrives with a new epoch to seal, the storage unit first flushes all ongoing
    // operations."
    [Fact]
    public async Task Seal_is_answered_after_all_earlier_operations()
    {
        var store = new MemoryPageStore(commitByHand: true);
        var unit = await HandlerClient.OpenAsync(store, install: false);
        var install = unit.AskAsync(new InstallRequest(Entries.Projection(1)));
        var write = unit.AskAsync(new WriteRequest(Epoch.First, Entries.Data(3)));
        var seal = unit.AskAsync(new SealRequest(new Epoch(2)));
        store.MakeDurable(store.AppendedUntil - 1);
        Assert.True(write.IsCompleted || !seal.IsCompleted);
        Assert.False(seal.IsCompleted);
        store.MakeDurable(store.AppendedUntil);
        Assert.Equal(4, (await seal).End.Offset);
        Assert.Equal(Status.Ok, (await write).Status);
        Assert.Equal(Status.Ok, (await install).Status);
    }

    // Figure 4: "Upon (read, epoch, addr): if epoch != s_epoch respond err_sealed", a higher epoch included (here:
    // NotInstalled).
    [Fact]
    public async Task Reads_need_exactly_the_units_epoch()
    {
        var unit = await CoreHarness.OpenAsync(installed: 3);
        Assert.Equal(Status.Sealed, unit.Read(ReadDetail.Full, 2, 0).Status);
        Assert.Equal(Status.Ok, unit.Read(ReadDetail.Full, 3, 0).Status);
        Assert.Equal(Status.NotInstalled, unit.Read(ReadDetail.Full, 4, 0).Status);
    }

    // Figure 4: "if written, (err_written, page-content)": the loser learns what is there; ours names kind and writer
    // (R4, R9).
    [Fact]
    public async Task Loser_of_a_race_learns_the_winner()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(0, sequence: 42);
        Assert.Equal(new EntryOrigin(Entries.Writer, 42), unit.Write(0, sequence: 43).StoredOrigin);
    }

    // Figure 4: "Upon (delete, addr) request: mark addr deleted, respond (ack)": also for what was never written.
    [Fact]
    public async Task Delete_is_acknowledged_whatever_was_there()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(0);
        unit.Fill(1);
        for (var position = 0; position < 3; position++) Assert.Equal(Status.Ok, unit.Trim(position));
    }
}
