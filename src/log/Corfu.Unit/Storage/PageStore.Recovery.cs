namespace Corfu.Unit;

internal sealed partial class PageStore
{
    // The log was durable up to here, as the checkpoint in use says.
    private long _proven;

    public async ValueTask RecoverAsync(RecordVisitor visit, Action<ReadOnlyMemory<byte>>? restore = null)
    {
        var image = new SegmentImage(_files, _options.SegmentSize);
        _begin = image.Begin;
        if (_map is not null) await ForgetAttemptAsync();
        var checkpoint = restore is null ? null : await TryCheckpointAsync(image, restore);
        StartedFromCheckpoint = checkpoint is not null;
        _map ??= _maps.Open(null, _log.Fail);
        var firstRecord = -1L;
        var promisedBegin = checkpoint?.Header.FirstKept ?? -1;
        var freed = new LogGaps();
        if (checkpoint is not null) freed.Read(checkpoint.Gaps.Body);
        var mark = _log.ReadMark();
        // R6: also proof. A checkpoint is published only when the log is durable as far as the map may reflect it.
        _proven = Math.Max(_proven, checkpoint?.Header.Needs ?? 0);
        var found = await new LogScanner(image, _logId).ScanAsync(Math.Max(mark, _proven), Visit,
            checkpoint?.Header.Tail, freed);
        if (checkpoint is not null) DropFreed(image, freed, promisedBegin);
        // Segments are deleted only after a state record says so: a beginning that is missing beyond that was lost.
        if (checkpoint is not null) firstRecord = _catalog.Oldest?.First ?? -1;
        if (_begin > 0 && (firstRecord < 0 || promisedBegin < firstRecord))
            throw new LogDamagedException("The beginning of the log is missing. Rebuild this unit from its replicas.",
                _begin);
        _firstKept = Math.Max(0, firstRecord);
        foreach (var (before, last) in found.Breaks) _gaps.Add(before, last);
        _records = found.Records;
        await _log.SecureAsync(image, mark, found.End);
        if (found.TornBytes) await _log.WipeAsync(found.End, image.End);
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
        if (_proven > _log.ReadMark()) await _log.WriteMarkAsync(_proven);
        _map.Dispose();
        _map = null!;
        _catalog.Clear();
        _gaps.Clear();
        RecordsRead = 0;
    }

    private async ValueTask GoOnFromAsync(LogTail found)
    {
        _incarnation = found.Incarnation + 1;
        _lastRecord = found.LastRecord;
        await _log.StartAsync(found.End, _incarnation);
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
        if (_log.TryReadHot(address, bytes)) return new ValueTask<ReadOnlyMemory<byte>>(bytes);
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
