using Corfu.Protocol;
using Corfu.Storage;
using Corfu.Unit;
using Xunit;

namespace Corfu.Conformance;

/// <summary>Expectations of the page store of a record log. Inherited once per implementation.</summary>
public abstract class RecordLogConformance
{
    private static readonly RecordLogSizes s_sizes = Stores.Small.Log;
    private static readonly uint s_logId = RecordCodec.LogIdOf(Stores.Unit);

    internal abstract IRecordLog Open(RecordingFiles files, RecordLogSizes sizes);

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public async Task Frames_stand_where_the_store_predicts_and_commits_add_a_bounded_frame(int seed)
    {
        var random = new Random(seed);
        var files = new RecordingFiles();
        using var log = Log(files);
        Assert.Equal(IRecordLog.FirstAddress, log.Tail);
        var written = new List<(long Frame, byte[] Record)>();
        for (var i = 0; i < 600; i++)
        {
            var record = new byte[random.Next(4) == 0
                ? random.Next(1, s_sizes.Page - IRecordLog.FrameHeader)
                : random.Next(1, 300)];
            random.NextBytes(record);
            written.Add((Append(log, record), record));
            if (random.Next(3) != 0) continue;
            var before = log.Tail;
            log.Commit();
            Assert.InRange(log.Tail, before, PlaceOf(IRecordLog.CommitFrame, before) + IRecordLog.CommitFrame);
            await log.FlushAsync();
            Assert.True(log.FlushedUntil >= before);
        }

        log.Commit();
        await log.FlushAsync();
        foreach (var (frame, record) in written)
        {
            var found = new byte[record.Length];
            var address = frame + IRecordLog.FrameHeader;
            files.Read((int)(address / s_sizes.Segment), address % s_sizes.Segment, found);
            Assert.Equal(record, found);
        }
    }

    [Fact]
    public async Task Record_is_not_durable_before_commit_and_flush()
    {
        using var log = Log(new RecordingFiles());
        var end = Append(log, new byte[100]) + 100;
        await log.FlushAsync();
        Assert.True(log.FlushedUntil < end);
        log.Commit();
        Assert.True(log.FlushedUntil < end);
        await log.FlushAsync();
        Assert.True(log.FlushedUntil >= end);
    }

    [Fact]
    public async Task Run_begins_at_the_given_page()
    {
        var files = new RecordingFiles();
        using var log = Log(files);
        var start = 7L * s_sizes.Page;
        log.GoOnFrom(start, 3);
        Assert.Equal((start, start), (log.Tail, log.FlushedUntil));
        Assert.Equal(start, Append(log, [1, 2, 3]));
        log.Commit();
        await log.FlushAsync();
        var found = new byte[3];
        var address = start + IRecordLog.FrameHeader;
        files.Read((int)(address / s_sizes.Segment), address % s_sizes.Segment, found);
        Assert.Equal([1, 2, 3], found);
        // The bytes before belong to earlier runs.
        Assert.DoesNotContain(files.Events,
            e => e is DiskEvent.Write w && (w.Segment * (long)s_sizes.Segment) + w.Offset < start);
    }

    [Fact]
    public async Task Memory_that_is_full_is_free_again_after_a_flush()
    {
        using var log = Log(new RecordingFiles());
        var record = new byte[s_sizes.Page - IRecordLog.FrameHeader];
        var pages = s_sizes.Memory / s_sizes.Page;
        for (var round = 0; round < 3; round++)
        {
            // As many as the store admits at once: a page stays free for the commit.
            for (var i = 0; i < pages - 2; i++) Append(log, record);
            log.Commit();
            await log.FlushAsync();
        }
    }

    [Fact]
    public async Task Failed_sync_is_reported_and_no_record_counts_as_durable()
    {
        var files = new RecordingFiles();
        using var log = Log(files);
        Append(log, new byte[100]);
        log.Commit();
        await log.FlushAsync();
        var before = log.FlushedUntil;
        files.SyncError = new IOException("no");
        Append(log, new byte[100]);
        log.Commit();
        await Assert.ThrowsAsync<IOException>(async () => await log.FlushAsync());
        Assert.Equal(before, log.FlushedUntil);
    }

    /// <summary>R6: a power cut at any moment leaves every flushed record, and of the others a prefix.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public async Task Torn_commits_leave_flushed_records(int seed)
    {
        var random = new Random(seed);
        var before = new RecordingFiles();
        var files = before.Copy();
        var written = new List<(long End, byte[] Body)>();
        using (var log = Log(files))
        {
            var previous = 0L;
            for (var i = 0; i < 60; i++)
            {
                var body = new byte[random.Next(5) == 0 ? random.Next(9000) : random.Next(200)];
                random.NextBytes(body);
                var frame = PlaceOf(IRecordLog.FrameHeader + IRecordLog.Align(RecordCodec.HeaderSize + body.Length),
                    log.Tail);
                var address = frame + IRecordLog.FrameHeader;
                var kind = i == 0 ? RecordKind.Open : RecordKind.StreamTails;
                var record = new byte[RecordCodec.HeaderSize + body.Length];
                RecordCodec.Encode(new LogRecord(kind, LogPosition.Zero, body), address, previous,
                    written.LastOrDefault().End, 1, s_logId, record);
                Assert.Equal(frame, Append(log, record));
                previous = address;
                if (i > 0 && random.Next(3) != 0) continue;
                log.Commit();
                await log.FlushAsync();
                written.Add((IRecordLog.Align(address + record.Length), body));
                files.Note(new DiskEvent.Acknowledged(written[^1].End));
            }
        }

        for (var events = 0; events <= files.EventCount; events++)
        {
            foreach (var fate in new Func<DiskEvent.Write, IEnumerable<Range>>[] { _ => [], _ => [Range.All],
                w => CrashFate.Of(random, w) })
            {
                var image = new SegmentImage(files.AfterCrash(before, events, fate), s_sizes.Segment);
                var acknowledged = files.Events.Take(events).OfType<DiskEvent.Acknowledged>().Select(a => a.Lsn)
                    .DefaultIfEmpty(0).Max();
                var tail = await new LogScanner(image, s_logId).ScanAsync(acknowledged,
                    (in LogRecord _, in RecordPlace place) => Assert.True(place.PayloadIntact));
                Assert.True(tail.End >= acknowledged);
            }
        }
    }

    private IRecordLog Log(RecordingFiles files) => Open(files, s_sizes);

    private static long Append(IRecordLog log, ReadOnlySpan<byte> record)
    {
        var size = IRecordLog.FrameHeader + IRecordLog.Align(record.Length);
        var expected = PlaceOf(size, log.Tail);
        Assert.True(log.TryAppend(record, out var frame));
        Assert.Equal((expected, expected + size), (frame, log.Tail));
        return frame;
    }

    private static long PlaceOf(int size, long tail)
    {
        var offset = tail % s_sizes.Page;
        return offset + size <= s_sizes.Page ? tail : tail - offset + s_sizes.Page;
    }

    internal static SegmentSpace Space(RecordingFiles files, RecordLogSizes sizes) =>
        new(files, sizes.Segment, 0, ThreadWorkers.Instance, _ => { });
}
