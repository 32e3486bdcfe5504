namespace Corfu.Storage;

// A start: (1) read the mark, (2) find the end of the log, by a scan of the store, (3) secure what was found, (4) wipe
// a torn tail, (5) start, (6) append.
public sealed partial class GroupLog
{
    private const int WipeChunk = 64 << 10;

    // Allocated before the first append, besides the reserve; at most a segment.
    private const int StartRoom = 4 << 20;

    /// <summary>The log was durable up to here, for all that its marks say; 0 if they say nothing.</summary>
    public long ReadMark() => _mark.Read();

    /// <summary>Writes a mark that was proven from outside the log; durable on return.</summary>
    public ValueTask WriteMarkAsync(long durable) => _mark.WriteAsync(durable);

    /// <summary>Makes durable all that a scan has found. Bytes of a killed process may be in the page cache only, and
    /// count as durable from now on. The mark is written before a torn tail is erased: a record there may hold the
    /// only proof of damage before it.</summary>
    /// <remarks>Invariant: zeros behind the end are durable before a new record proves that all below it is. A process
    /// that ended while it erased a torn tail has left zeros in the page cache: after a power cut the tail would be
    /// back, as damage.</remarks>
    /// <param name="mark">As it was read.</param>
    /// <param name="end">The end of what was found.</param>
    public async ValueTask SecureAsync(SegmentImage image, long mark, long end)
    {
        for (var at = image.SkipMissing(Math.Min(mark, end)); at < image.End;
            at = image.SkipMissing((at / _sizes.Segment + 1) * _sizes.Segment))
            await _files.SyncAsync((int)(at / _sizes.Segment));
        if (end > mark)
        {
            await _mark.WriteAsync(end);
            _marked = end;
        }
        else if (mark > 0)
        {
            await _mark.SecureAsync(mark);
        }
    }

    /// <summary>Erases a torn tail, durably, before the log goes on: a half-written record must not reappear as a
    /// damaged one.</summary>
    public async ValueTask WipeAsync(long from, long until)
    {
        var chunk = new byte[WipeChunk];
        var zeros = new byte[WipeChunk];
        var touched = new SortedSet<int>();
        for (var at = from; at < until;)
        {
            var offset = at % _sizes.Segment;
            var count = (int)Math.Min(Math.Min(WipeChunk, _sizes.Segment - offset), until - at);
            var segment = (int)(at / _sizes.Segment);
            _files.Read(segment, offset, chunk.AsSpan(0, count));
            if (chunk.AsSpan(0, count).ContainsAnyExcept((byte)0))
            {
                _files.Write(segment, offset, zeros.AsSpan(0, count));
                touched.Add(segment);
            }

            at += count;
        }

        foreach (var segment in touched) await _files.SyncAsync(segment);
    }

    /// <summary>Goes on behind the records of earlier runs, on a page of its own. Behind other bytes of a page the log
    /// would rewrite their last sector from memory that it did not load.</summary>
    /// <param name="end">The end of the last record; 0 for a new log.</param>
    /// <param name="incarnation">Counts the runs, from 1.</param>
    public async ValueTask StartAsync(long end, uint incarnation)
    {
        var start = (end + _sizes.Page - 1) / _sizes.Page * _sizes.Page;
        if (start > 0) _log.GoOnFrom(start, incarnation);
        _durable = _committed = _end = end;
        await Space.StartAsync(start, start + _sizes.Reserve + Math.Min(StartRoom, _sizes.Segment));
        _writer.Start();
    }
}
