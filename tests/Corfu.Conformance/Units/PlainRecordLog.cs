using Corfu.Storage;

namespace Corfu.Conformance;

/// <summary>
/// The simulator's record log: FASTER's places for records and its way to write them, from one thread. A commit ends
/// with a frame of the log's own, and the newest sector is written again with what follows in it.
/// </summary>
internal sealed class PlainRecordLog(ISegmentFiles files, SegmentSpace space, RecordLogSizes sizes) : IRecordLog
{
    private const int Sector = 512;
    private const int CommitBody = 60;

    private readonly byte[] _memory = new byte[sizes.Memory];

    // [.., _flushed) is durable, [_flushed, _committed) is written by the next flush.
    private long _flushed = IRecordLog.FirstAddress;
    private long _committed = IRecordLog.FirstAddress;
    private long _commits;

    public long Tail { get; private set; } = IRecordLog.FirstAddress;

    public long FlushedUntil => _flushed;

    public void GoOnFrom(long address, uint incarnation)
    {
        if (address % sizes.Page != 0)
            throw new ArgumentException("not the beginning of a page", nameof(address));
        Tail = _committed = _flushed = address;
    }

    public bool TryAppend(ReadOnlySpan<byte> record, out long frame)
    {
        frame = Take(IRecordLog.FrameHeader + IRecordLog.Align(record.Length));
        if (frame < 0) return false;
        var target = At(frame);
        BitConverter.TryWriteBytes(target[8..], record.Length);
        record.CopyTo(target[IRecordLog.FrameHeader..]);
        return true;
    }

    public void Commit()
    {
        if (Tail == _committed) return;
        var frame = Take(IRecordLog.FrameHeader + CommitBody);
        if (frame < 0)
            throw new InvalidOperationException("no memory for a commit: what was appended was not admitted");
        var target = At(frame);
        BitConverter.TryWriteBytes(target[8..], -CommitBody);
        BitConverter.TryWriteBytes(target[IRecordLog.FrameHeader..], ++_commits);
        BitConverter.TryWriteBytes(target[(IRecordLog.FrameHeader + 8)..], Tail);
        _committed = Tail;
    }

    public async ValueTask FlushAsync()
    {
        var until = _committed;
        if (until == _flushed) return;
        var touched = new SortedSet<int>();
        for (var at = _flushed / Sector * Sector; at < until;)
        {
            var pageEnd = ((at / sizes.Page) + 1) * sizes.Page;
            var end = Math.Min(pageEnd, (until + Sector - 1) / Sector * Sector);
            var segment = (int)(at / sizes.Segment);
            space.EnsureSegment(segment);
            files.Write(segment, at % sizes.Segment, At(at)[..(int)(end - at)]);
            touched.Add(segment);
            at = end;
        }

        foreach (var segment in touched) await files.SyncAsync(segment);
        _flushed = until;
    }

    public void Dispose()
    {
    }

    // Returns the address of a frame of this size, filled with zeros; -1 if its page would take the place of one that
    // is not flushed.
    private long Take(int size)
    {
        long page = sizes.Page;
        var frame = (Tail % page) + size <= page ? Tail : ((Tail / page) + 1) * page;
        if (size > page || (frame / page) - (_flushed / page) >= sizes.Memory / page) return -1;
        // A page is entered once, at its beginning or where a run begins: what its memory held before goes.
        if (frame / page != (Tail - 1) / page) At(frame / page * page)[..(int)page].Clear();
        Tail = frame + size;
        return frame;
    }

    private Span<byte> At(long address) => _memory.AsSpan((int)(address % sizes.Memory));
}
