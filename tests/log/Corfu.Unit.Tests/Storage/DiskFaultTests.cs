using Corfu.Conformance;
using Corfu.Protocol;

namespace Corfu.Unit.Tests;

public sealed class DiskFaultTests : IDisposable
{
    private readonly TempFolder _folder = new();

    private string Scratch => Path.Combine(_folder.Path, "map");

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Failed_sync_ends_service_without_acknowledgement_or_retry()
    {
        var files = new RecordingFiles();
        await using var store = PageStore.OnFaster(files, Stores.Unit, Stores.Small, Scratch);
        var unit = await HandlerClient.OpenAsync(store);
        Assert.Equal(Status.Ok, (await unit.AskAsync(new WriteRequest(Epoch.First, Entries.Data(0)))).Status);
        files.SyncError = new IOException("EIO");
        Assert.Equal(Status.Failed, (await unit.AskAsync(new WriteRequest(Epoch.First, Entries.Data(1)))).Status);
        Assert.Contains("EIO", (await unit.Handler.Fault).Message);
        files.SyncError = null;
        Assert.Equal(Status.Failed, (await unit.AskAsync(new WriteRequest(Epoch.First, Entries.Data(2)))).Status);
        Assert.Equal(Status.Failed,
            (await unit.AskAsync(new ReadRequest(Epoch.First, Entries.Positions(0), ReadDetail.Full))).Status);
        Assert.Equal(Status.Failed, (await unit.AskAsync(new SealRequest(new Epoch(2)))).Status);
        var info = await unit.AskAsync(new UnitInfoRequest(Epoch.First));
        Assert.Equal(UnitHealth.Failed, info.Health);
        Assert.Contains("EIO", info.Reason);
    }

    [Theory]
    [InlineData(5)]
    [InlineData(28)]
    [InlineData(30)]
    public async Task Any_error_of_a_sync_is_final_also_a_full_disk(int errno)
    {
        var files = new RecordingFiles();
        await using var store = PageStore.OnFaster(files, Stores.Unit, Stores.Small, Scratch);
        var unit = await HandlerClient.OpenAsync(store);
        files.SyncError = new IOException($"errno {errno}", errno);
        Assert.Equal(Status.Failed, (await unit.AskAsync(new WriteRequest(Epoch.First, Entries.Data(0)))).Status);
        await StaysFailedAsync(unit, files, $"errno {errno}");
    }

    [Theory]
    [InlineData(5)]
    [InlineData(28)]
    [InlineData(30)]
    public async Task Any_error_of_a_write_of_records_is_final(int errno)
    {
        var files = new RecordingFiles();
        await using var store = PageStore.OnFaster(files, Stores.Unit, Stores.Small, Scratch);
        var unit = await HandlerClient.OpenAsync(store);
        files.WriteError = new IOException($"errno {errno}", errno);
        Assert.Equal(Status.Failed, (await unit.AskAsync(new WriteRequest(Epoch.First, Entries.Data(0)))).Status);
        await StaysFailedAsync(unit, files, $"errno {errno}");
    }

    [Fact]
    public async Task Nearly_full_file_system_makes_the_unit_read_only_until_there_is_room()
    {
        var files = new RecordingFiles { Free = 1 << 20 };
        await using var store = PageStore.OnFaster(files, Stores.Unit, Stores.Small with { Headroom = 2 << 20 },
            Scratch);
        var unit = await HandlerClient.OpenAsync(store, install: false);
        files.Free = 4 << 20;
        while ((await unit.AskAsync(new InstallRequest(Entries.Projection(1)))).Status != Status.Ok) Thread.Yield();
        while ((await unit.AskAsync(new WriteRequest(Epoch.First, Entries.Data(0)))).Status != Status.Ok)
            Thread.Yield();
        files.Free = 1 << 20;
        var written = await FillAsync(unit, from: 1);
        Assert.Equal(UnitHealth.ReadOnly, (await unit.AskAsync(new UnitInfoRequest(Epoch.First))).Health);
        Assert.Equal(Status.Ok,
            (await unit.AskAsync(new TrimRequest(Epoch.First, new LogPosition(1), default))).Status);
        Assert.Equal(Status.Ok,
            (await unit.AskAsync(new TrimPrefixRequest(Epoch.First, new LogPosition(written)))).Status);
        files.Free = 4 << 20;
        while ((await unit.AskAsync(new WriteRequest(Epoch.First, Entries.Data(written, new byte[1000])))).Status
            != Status.Ok) Thread.Yield();
        Assert.Equal(UnitHealth.Ok, (await unit.AskAsync(new UnitInfoRequest(Epoch.First))).Health);
    }

    [Fact]
    public async Task Disk_that_fills_is_reported_while_the_unit_still_takes_pages()
    {
        var files = new RecordingFiles { Total = 64 << 20, Free = 9 << 20 };
        await using var store = PageStore.OnFaster(files, Stores.Unit, Stores.Small with { Headroom = 2 << 20 },
            Scratch);
        var unit = await HandlerClient.OpenAsync(store);
        Assert.Equal("", unit.Handler.Shortage);
        // A tenth of the file system above the headroom.
        files.Free = 8 << 20;
        Assert.Equal(Status.Ok, (await unit.AskAsync(new WriteRequest(Epoch.First, Entries.Data(0)))).Status);
        var info = await unit.AskAsync(new UnitInfoRequest(Epoch.First));
        Assert.Equal((UnitHealth.Ok, "The disk is nearly full: 6 MiB are left before pages are refused."),
            (info.Health, info.Reason));
        Assert.Equal(info.Reason, unit.Handler.Shortage);
    }

    [Fact]
    public async Task A_full_disk_refuses_pages_but_not_seals_installs_and_trims()
    {
        var files = new RecordingFiles { Capacity = 300 << 10 };
        await using var store = PageStore.OnFaster(files, Stores.Unit, Stores.Small, Scratch);
        var unit = await HandlerClient.OpenAsync(store);
        var written = await FillAsync(unit);
        Assert.True(written > 10);
        // Junk is smaller and may still fit, for a while.
        var junk = 0;
        while ((await unit.AskAsync(new FillRequest(Epoch.First, Entries.Junk(written + junk)))).Status == Status.Ok)
            junk++;
        Assert.Equal(Status.NoSpace,
            (await unit.AskAsync(new FillRequest(Epoch.First, Entries.Junk(written + junk)))).Status);
        Assert.Equal(Status.Ok,
            (await unit.AskAsync(new TrimRequest(Epoch.First, new LogPosition(1), default))).Status);
        Assert.Equal(Status.Ok, (await unit.AskAsync(new SealRequest(new Epoch(2)))).Status);
        Assert.Equal(Status.Ok,
            (await unit.AskAsync(new InstallRequest(Entries.Projection(2, written + junk)))).Status);
        var read =
            await unit.AskAsync(new ReadRequest(new Epoch(2), Entries.Positions(0, 1, written - 1), ReadDetail.Full));
        Assert.Equal([PageState.Data, PageState.Trimmed, PageState.Data], read.Pages.Select(p => p.State));
        Assert.False(unit.Handler.Fault.IsCompleted);
    }

    /// <summary>A refused append leaves a hole. Where it cannot be closed, nothing above it can be read.</summary>
    [Fact]
    public async Task A_disk_that_takes_no_page_takes_the_junk_that_closes_a_hole()
    {
        var files = new RecordingFiles { Capacity = 300 << 10 };
        await using var store = PageStore.OnFaster(files, Stores.Unit, Stores.Small, Scratch);
        var unit = await HandlerClient.OpenAsync(store);
        var position = (long)await FillAsync(unit);
        while ((await unit.AskAsync(new WriteRequest(Epoch.First, Entries.Data(position)))).Status == Status.Ok)
            position++;
        Assert.Equal(Status.Ok, (await unit.AskAsync(new FillRequest(Epoch.First, Entries.Junk(position)))).Status);
        Assert.Equal(Status.NoSpace,
            (await unit.AskAsync(new WriteRequest(Epoch.First, Entries.Data(position + 1)))).Status);
    }

    [Fact]
    public async Task A_prefix_trim_frees_a_full_disk()
    {
        var files = new RecordingFiles { Capacity = 300 << 10 };
        await using var store = PageStore.OnFaster(files, Stores.Unit, Stores.Small, Scratch);
        var unit = await HandlerClient.OpenAsync(store);
        var written = await FillAsync(unit);
        Assert.Equal(Status.Ok,
            (await unit.AskAsync(new TrimPrefixRequest(Epoch.First, new LogPosition(written)))).Status);
        var status = Status.NoSpace;
        for (var position = (long)written; status != Status.Ok; position++)
        {
            status = (await unit.AskAsync(new WriteRequest(Epoch.First, Entries.Data(position)))).Status;
            Assert.True(status is Status.Ok or Status.NoSpace or Status.Overloaded);
            Thread.Yield();
        }
    }

    [Fact]
    public async Task Single_trims_leave_room_for_seals_installs_and_prefix_trims()
    {
        var files = new RecordingFiles { Capacity = 300 << 10 };
        await using var store = PageStore.OnFaster(files, Stores.Unit, Stores.Small, Scratch);
        var unit = await HandlerClient.OpenAsync(store);
        var position = (long)await FillAsync(unit);
        var status = Status.Ok;
        for (; status == Status.Ok; position++)
            status = (await unit.AskAsync(new TrimRequest(Epoch.First, new LogPosition(position), default))).Status;
        Assert.Equal(Status.NoSpace, status);
        Assert.False(unit.Handler.Fault.IsCompleted);
        // The last share is for what makes it better.
        var info = await unit.AskAsync(new UnitInfoRequest(Epoch.First));
        Assert.Equal(UnitHealth.ReadOnly, info.Health);
        Assert.NotEmpty(info.Reason);
        Assert.Equal(Status.Ok, (await unit.AskAsync(new SealRequest(new Epoch(2)))).Status);
        Assert.Equal(Status.Ok, (await unit.AskAsync(new InstallRequest(Entries.Projection(2, position)))).Status);
        var read = await unit.AskAsync(new ReadRequest(new Epoch(2), Entries.Positions(0), ReadDetail.Full));
        Assert.Equal(PageState.Data, Assert.Single(read.Pages).State);
        Assert.Equal(Status.Ok,
            (await unit.AskAsync(new TrimPrefixRequest(new Epoch(2), new LogPosition(position)))).Status);
    }

    private static async Task StaysFailedAsync(HandlerClient unit, RecordingFiles files, string reason)
    {
        Assert.Contains(reason, (await unit.Handler.Fault).Message);
        files.SyncError = files.WriteError = null;
        var events = files.Events.Count;
        Assert.Equal(Status.Failed, (await unit.AskAsync(new WriteRequest(Epoch.First, Entries.Data(1)))).Status);
        Assert.Equal(Status.Failed, (await unit.AskAsync(new SealRequest(new Epoch(2)))).Status);
        Assert.Contains(reason, (await unit.AskAsync(new UnitInfoRequest(Epoch.First))).Reason);
        // Nothing is tried again: whatever the disk says now, what it lost stays lost.
        Assert.DoesNotContain(files.Events.Skip(events), e => e is DiskEvent.Sync);
    }

    // Writes one page after the other, until the disk is full. While the store is still allocating it answers
    // Overloaded: try again.
    private static async Task<int> FillAsync(HandlerClient unit, int from = 0)
    {
        for (var position = from; ;)
        {
            var status =
                (await unit.AskAsync(new WriteRequest(Epoch.First, Entries.Data(position, new byte[1000])))).Status;
            if (status == Status.NoSpace) return position;
            if (status == Status.Ok) position++;
            else Assert.Equal(Status.Overloaded, status);
        }
    }
}
