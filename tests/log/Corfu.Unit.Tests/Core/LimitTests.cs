using Corfu.Conformance;
using Corfu.Protocol;
using Corfu.Storage;
using Corfu.Transport;

namespace Corfu.Unit.Tests;

/// <summary>Limits of a well-formed request to a unit.</summary>
public sealed class LimitTests
{
    private const long Known = 5000;

    /// <summary>R13: the next epoch begins above what the units report.</summary>
    [Theory]
    [InlineData(0, 0)]
    [InlineData(Known, 0)]
    [InlineData(0, Known)]
    public async Task Positions_far_above_start_mark_and_end_are_refused_before_anything_is_appended(long start,
        long mark)
    {
        var unit = await CoreHarness.OpenAsync(start: start);
        if (mark > 0) Assert.Equal(Status.Ok, unit.TrimPrefix(mark));
        var known = Math.Max(start, mark);
        var before = unit.Store.AppendedUntil;
        foreach (var far in new[] { known + UnitCore.Reach + 1, 1L << 62, long.MaxValue - 1, long.MaxValue })
        {
            Assert.Equal(Status.BadRequest, unit.Fill(far).Status);
            Assert.Equal(Status.BadRequest, unit.Write(far).Status);
            Assert.Equal(Status.BadRequest, unit.Complete(Entries.Data(far)).Status);
            Assert.Equal(Status.BadRequest, unit.Trim(far));
            Assert.Equal(Status.BadRequest, unit.TrimPrefix(far));
        }

        Assert.Equal(before, unit.Store.AppendedUntil);
        Assert.Equal(mark, unit.Seal(2).End.Offset);
        Assert.Equal(Status.Ok, unit.Install(2, known));
        Assert.Equal(Status.Ok, unit.Fill(known + UnitCore.Reach, epoch: 2).Status);
    }

    [Fact]
    public async Task Requests_within_reach_cannot_walk_to_the_last_position()
    {
        var unit = await CoreHarness.OpenAsync(start: long.MaxValue - (2 * UnitCore.Reach));
        Assert.Equal(Status.Ok, unit.Fill(long.MaxValue - UnitCore.Reach).Status);
        Assert.Equal(Status.BadRequest, unit.Fill(long.MaxValue - UnitCore.Reach + 1).Status);
        Assert.Equal(Status.BadRequest, unit.TrimPrefix(long.MaxValue));
    }

    [Fact]
    public async Task New_streams_are_refused_at_the_limit_and_known_ones_go_on()
    {
        var unit =
            await CoreHarness.OpenAsync(options: new UnitCoreOptions { Cluster = Entries.Cluster, MaxStreams = 3 });
        for (ulong stream = 300; stream < 303; stream++)
            Assert.Equal(Status.Ok, unit.Write((long)stream, streams: stream).Status);
        Assert.Equal(Status.NoSpace, unit.Write(400, streams: [300, 303]).Status);
        Assert.Equal(PageState.Unwritten, unit.Page(400).State);
        Assert.Equal(Status.Ok, unit.Write(400, streams: [300, 302]).Status);
        Assert.Equal(Status.Ok, unit.Write(401).Status);
        // A copy of what another replica holds is no new append: its chain would never be whole.
        Assert.Equal(Status.Ok, unit.Complete(Entries.Data(402, streams: 303)).Status);
    }

    [Fact]
    public async Task A_record_that_makes_no_sense_is_a_refused_start_with_a_message()
    {
        var files = new RecordingFiles();
        var maps = new MemoryMapFiles();
        var client = await StoreClient.OpenAsync(Stores.Plain(files, maps, Stores.Small));
        client.Store.Append(new LogRecord(RecordKind.StreamTails, LogPosition.Zero, new byte[] { 1, 2, 3 }));
        await client.CommitAsync();
        await client.Store.DisposeAsync();
        await using var store = Stores.Plain(files, maps, Stores.Small);
        var error =
            await Assert.ThrowsAsync<LogDamagedException>(
                async () => await UnitCore.OpenAsync(store, new UnitCoreOptions()));
        Assert.Contains("StreamTails record", error.Message, StringComparison.Ordinal);
        Assert.Contains("Rebuild this unit", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Pending_reads_are_limited_by_bytes()
    {
        var files = new SlowFiles();
        var maps = new MemoryMapFiles();
        var options = Stores.Small with { HotBytes = Stores.Small.LogPageSize };
        await using var store = Stores.Plain(files, maps, options);
        var unit = await HandlerClient.OpenAsync(store, new UnitHandlerOptions { MaxPendingReadBytes = 2500 });
        for (var i = 0; i < 40; i++)
            await unit.AskUntilTakenAsync(new WriteRequest(Epoch.First, Entries.Data(i, new byte[1000])));
        files.Hold = new TaskCompletionSource();
        var reads = Enumerable.Range(0, 4)
            .Select(i => unit.AskAsync(new ReadRequest(Epoch.First, Entries.Positions(i), ReadDetail.Full))).ToList();
        Assert.Equal(Status.Overloaded, (await reads[2]).Status);
        Assert.Equal(Status.Overloaded, (await reads[3]).Status);
        files.Hold.SetResult();
        Assert.Equal(Status.Ok, (await reads[0]).Status);
        Assert.Equal(Status.Ok, (await reads[1]).Status);
        Assert.Equal(Status.Ok,
            (await unit.AskAsync(new ReadRequest(Epoch.First, Entries.Positions(2), ReadDetail.Full))).Status);
    }

    [Fact]
    public async Task Pending_reads_of_one_identity_leave_room_to_other_identities()
    {
        var files = new SlowFiles();
        var options = Stores.Small with { HotBytes = Stores.Small.LogPageSize };
        await using var store = Stores.Plain(files, new MemoryMapFiles(), options);
        var node = await HandlerClient.OpenAsync(store, new UnitHandlerOptions { MaxPendingReadBytes = 5000 });
        for (var i = 0; i < 40; i++)
            await node.AskUntilTakenAsync(new WriteRequest(Epoch.First, Entries.Data(i, new byte[1000])));
        var (one, two) = (new Part(), new Part());
        var greedy = new HandlerClient(node.Handler) { Share = one };
        var modest = new HandlerClient(node.Handler) { Share = two };
        files.Hold = new TaskCompletionSource();
        var reads = Enumerable.Range(0, 3).Select(i => Read(greedy, i)).ToList();
        var other = Read(modest, 3);
        Assert.Equal(Status.Overloaded, (await reads[2]).Status);
        Assert.False(other.IsCompleted);
        files.Hold.SetResult();
        foreach (var read in (Task<ReadResponse>[])[reads[0], reads[1], other])
            Assert.Equal(Status.Ok, (await read).Status);
        Assert.Equal(Status.Ok, (await Read(greedy, 2)).Status);

        static Task<ReadResponse> Read(HandlerClient client, int position) =>
            client.AskAsync(new ReadRequest(Epoch.First, Entries.Positions(position), ReadDetail.Full));
    }

    // Two reads of the test.
    private sealed class Part : IRoleShare
    {
        private long _held;

        public bool TryHold(long amount, long total)
        {
            if (_held + amount > total / 2) return false;
            Interlocked.Add(ref _held, amount);
            return true;
        }

        public void Release(long amount) => Interlocked.Add(ref _held, -amount);
    }

    // Reads end when the test says so.
    private sealed class SlowFiles : ISegmentFiles
    {
        private readonly RecordingFiles _files = new();

        public TaskCompletionSource? Hold { get; set; }

        public IReadOnlyList<int> List() => _files.List();

        public long Length(int segment) => _files.Length(segment);

        public void Create(int segment) => _files.Create(segment);

        public void Delete(int segment) => _files.Delete(segment);

        public void Write(int segment, long offset, ReadOnlySpan<byte> bytes) => _files.Write(segment, offset, bytes);

        public ValueTask SyncAsync(int segment) => _files.SyncAsync(segment);

        public void Read(int segment, long offset, Span<byte> buffer) => _files.Read(segment, offset, buffer);

        public bool TryReadCached(int segment, long offset, Span<byte> buffer) => false;

        public async ValueTask ReadAsync(int segment, long offset, Memory<byte> buffer)
        {
            if (Hold is { } hold) await hold.Task;
            _files.Read(segment, offset, buffer.Span);
        }

        public ValueTask WriteMarkAsync(long offset, ReadOnlyMemory<byte> bytes) =>
            _files.WriteMarkAsync(offset, bytes);

        public byte[] ReadMark() => _files.ReadMark();

        public void Dispose()
        {
        }
    }
}
