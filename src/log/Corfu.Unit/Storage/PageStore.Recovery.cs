namespace Corfu.Unit;

internal sealed partial class PageStore
{
    private const int WipeChunk = 64 << 10;

    /// <summary>Allocated before the first append, besides the reserve; at most a segment.</summary>
    private const int StartRoom = 4 << 20;

    // The log was durable up to here, as the checkpoint in use says.
    private long _proven;

    public async ValueTask RecoverAsync(RecordVisitor visit, Action<ReadOnlyMemory<byte>>? restore = null)
    {
        var image = new SegmentImage(_files, _options.SegmentSize);
        _begin = image.Begin;
        if (_map is not null) await ForgetAttemptAsync();
        var checkpoint = restore is null ? null : await TryCheckpointAsync(image, restore);
        StartedFromCheckpoint = checkpoint is not null;
        _map ??= _maps.Open(null, Fail);
        var firstRecord = -1L;
        var promisedBegin = checkpoint?.FirstKept ?? -1;
        var freed = new LogGaps();
        if (checkpoint is not null) freed.Read(checkpoint.Gaps.Body);
        var mark = _mark.Read();
        // R6: also proof. A checkpoint is published only when the log is durable as far as the map may reflect it.
        _proven = Math.Max(_proven, checkpoint?.Needs ?? 0);
        var found = await new LogScanner(image, _logId).ScanAsync(Math.Max(mark, _proven), Visit, checkpoint?.Tail,
            freed);
        if (checkpoint is not null) DropFreed(image, freed, promisedBegin);
        // Segments are deleted only after a state record says so: a beginning that is missing beyond that was lost.
        if (checkpoint is not null) firstRecord = _catalog.Oldest?.First ?? -1;
        if (_begin > 0 && (firstRecord < 0 || promisedBegin < firstRecord))
            throw new LogDamagedException("The beginning of the log is missing. Rebuild this unit from its replicas.",
                _begin);
        _firstKept = Math.Max(0, firstRecord);
        foreach (var (before, last) in found.Breaks) _gaps.Add(before, last);
        _records = found.Records;
        await SecureAsync(image, mark, found.End);
        if (found.TornBytes) await WipeAsync(found.End, image.End);
        await GoOnFromAsync(found);

        void Visit(in LogRecord record, in RecordPlace place)
        {
            RecordsRead++;
            var address = place.BodyAddress - RecordCodec.HeaderSize;
            if (firstRecord < 0) firstRecord = address;
            if (record.Kind == RecordKind.State) promisedBegin = record.Position.Offset;
            _catalog.Note(record, address, place.Previous, _map.Tail);
            if (Planted.Is("restored-map-is-current") && checkpoint is not null && record.Kind == RecordKind.Page)
                return;
            visit(record, place);
        }
    }

    // The start from a checkpoint failed and is repeated without. The durable mark that the checkpoint proves is kept.
    private async ValueTask ForgetAttemptAsync()
    {
        if (_proven > _mark.Read()) await _mark.WriteAsync(_proven);
        _map.Dispose();
        _map = null!;
        _catalog.Clear();
        _gaps.Clear();
        RecordsRead = 0;
    }

    // R4, R6: what a killed process wrote may be in the page cache only, and counts as durable from now on. The mark is
    // written before the torn tail is erased: a record there may hold the only floor that proves damage before it.
    private async ValueTask SecureAsync(SegmentImage image, long mark, long end)
    {
        if (end <= mark)
        {
            if (mark > 0) await _mark.SecureAsync(mark);
            return;
        }

        for (var at = image.SkipMissing(mark); at < end;
            at = image.SkipMissing((at / _options.SegmentSize + 1) * _options.SegmentSize))
            await _files.SyncAsync((int)(at / _options.SegmentSize));
        await _mark.WriteAsync(end);
        _marked = end;
    }

    // R6: a new run begins on a log page of its own. Behind other bytes of a page the log would rewrite their last
    // sector from memory that it did not load.
    private async ValueTask GoOnFromAsync(LogTail found)
    {
        var page = (long)_options.LogPageSize;
        var start = found.Records == 0 ? 0 : (found.End + page - 1) / page * page;
        _incarnation = found.Incarnation + 1;
        if (start > 0) _log.GoOnFrom(start, _incarnation);
        _lastRecord = found.LastRecord;
        _durable = _committed = _lastEnd = found.End;
        await _space.StartAsync(start, start + _options.Reserve + Math.Min(StartRoom, _options.SegmentSize));
        _writer.Start();
        // Nothing else is written before the Open record is durable, so an incarnation is never used twice.
        var open = Append(new LogRecord(RecordKind.Open, LogPosition.Zero));
        var opened = new Opened(open.Lsn);
        Observer = opened;
        Commit();
        await opened.Done;
        Observer = null;
        _stateDue = true;
    }

    public ValueTask<ReadOnlyMemory<byte>> ReadAsync(long address, int length)
    {
        var bytes = new byte[length];
        if (_hot.TryRead(address, bytes)) return new ValueTask<ReadOnlyMemory<byte>>(bytes);
        if (IsGone(address)) return default;
        var segment = (int)(address / _options.SegmentSize);
        var offset = address % _options.SegmentSize;
        if (_files.TryReadCached(segment, offset, bytes))
            return new ValueTask<ReadOnlyMemory<byte>>(IsGone(address) ? default : bytes);
        UnitTelemetry.ColdReads.Add(1);
        return ReadColdAsync(segment, offset, address, bytes);
    }

    private async ValueTask<ReadOnlyMemory<byte>> ReadColdAsync(int segment, long offset, long address, byte[] bytes)
    {
        try
        {
            await _files.ReadAsync(segment, offset, bytes);
        }
        catch (Exception error) when (error is IOException or ObjectDisposedException && IsGone(address))
        {
            return default;
        }

        // Deleted while it was read: the zeros are not the page.
        return IsGone(address) ? default : (ReadOnlyMemory<byte>)bytes;
    }

    // A torn tail is erased, durably, before the log goes on: a half-written page must not reappear as a damaged one.
    private async ValueTask WipeAsync(long from, long until)
    {
        var chunk = new byte[WipeChunk];
        var zeros = new byte[WipeChunk];
        var touched = new SortedSet<int>();
        for (var at = from; at < until;)
        {
            var offset = at % _options.SegmentSize;
            var count = (int)Math.Min(Math.Min(WipeChunk, _options.SegmentSize - offset), until - at);
            var segment = (int)(at / _options.SegmentSize);
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

    // Waits for the first record of a run.
    private sealed class Opened(long lsn) : IStoreObserver
    {
        private readonly TaskCompletionSource _done = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public Task Done => _done.Task;

        public void OnDurable(long durable)
        {
            if (durable >= lsn) _done.TrySetResult();
        }

        public void OnFailed(Exception error) => _done.TrySetException(error);
    }
}
