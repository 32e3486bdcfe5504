namespace Corfu.Unit;

internal sealed partial class PageStore
{
    public UnitHealth Health => _space.IsFull ? UnitHealth.ReadOnly : UnitHealth.Ok;

    public string? Shortage => _space.IsNearlyFull(out var left)
        ? $"The disk is nearly full: {left >> 20} MiB are left before pages are refused."
        : null;

    public Status Admit(int bodyLength, SpaceUse use)
    {
        var size = FrameSize(bodyLength);
        if (size > _options.LogPageSize) return Status.TooLarge;
        var tail = _log.Tail;
        if (OpensSegment(bodyLength)) tail = PlaceOf(StateFrame, tail) + StateFrame;
        var end = PlaceOf(size, tail) + size + IRecordLog.CommitFrame;
        // A page of the log's memory stays free, so that neither an append nor a commit ever waits for memory.
        var pages = _options.LogMemory / _options.LogPageSize;
        if (end / _options.LogPageSize > (_log.FlushedUntil / _options.LogPageSize) + pages - 2)
            return Status.Overloaded;
        if (end + Kept(use) <= _space.Allocated) return Status.Ok;
        // Never beyond: the worker that writes zeros ahead may write them there, over a durable record.
        return _space.IsFull ? Status.NoSpace : Status.Overloaded;
    }

    public RecordPlace Append(in LogRecord record)
    {
        lock (_gate)
        {
            if (_failure is not null) throw _failure;
            return record.Kind == RecordKind.State
                ? Add(record with { Position = new LogPosition(_firstKept) })
                : Add(record);
        }
    }

    private RecordPlace Add(in LogRecord record)
    {
        var size = RecordCodec.Size(record);
        var frame = PlaceOf(FrameSize(record.Body.Length), _log.Tail);
        var address = frame + IRecordLog.FrameHeader;
        var bytes = _scratch.AsSpan(0, size);
        var check = RecordCodec.Encode(record, address, _lastRecord, DurableUntil, _incarnation, _logId, bytes);
        if (!_log.TryAppend(bytes, out var actual)) throw new StoreFailedException("The log has no memory left.");
        // R6: the check inside is bound to the address; appends are serial, so it is the predicted one.
        if (actual != frame) throw new StoreFailedException($"The log placed a record at {actual} instead of {frame}.");
        _hot.Put(address, bytes);
        _catalog.Note(record, address, _lastRecord, _map.Tail);
        _stateDue = false;
        _lastRecord = address;
        _lastCheck = check;
        _records++;
        if (!_checkpointAsked && CheckpointDue)
        {
            _checkpointAsked = true;
            CleaningDue?.Invoke();
        }

        var end = RecordCodec.Align(address + size);
        WantSpace(end);
        Volatile.Write(ref _lastEnd, end);
        return new RecordPlace(address + RecordCodec.HeaderSize, end);
    }

    public void Commit()
    {
        if (Volatile.Read(ref _lastEnd) > Volatile.Read(ref _committed)) _writer.Kick();
    }

    // A round of the writer: group commit of everything appended so far.
    private async ValueTask StepAsync()
    {
        long end;
        lock (_gate)
        {
            if (_failure is not null) return;
            end = _lastEnd;
            if (end > _committed) _log.Commit();
            _committed = end;
        }

        await _log.FlushAsync();
        if (_log.FlushedUntil < end) throw new StoreFailedException("The log did not flush all that was committed.");
        var committed = end > _durable;
        if (committed)
        {
            UnitTelemetry.Commits.Add(1);
            UnitTelemetry.CommittedBytes.Add(end - _durable);
            Volatile.Write(ref _durable, end);
            Observer?.OnDurable(end);
        }

        await KeepMarkAsync(committed);
    }

    // Every so many commits, and soon after the last one. Synced: without it, a log that comes back short would pass
    // for a whole one (R6).
    private async ValueTask KeepMarkAsync(bool committed)
    {
        if (committed && ++_batchesSinceMark < MarkIntervalBatches)
        {
            _writer.WakeAfter(MarkIdleMilliseconds);
            return;
        }

        if (_marked == _durable) return;
        await _mark.WriteAsync(_durable);
        _marked = _durable;
        _batchesSinceMark = 0;
    }

    private int Kept(SpaceUse use) => use switch
    {
        SpaceUse.Pages => _options.Reserve,
        SpaceUse.Fills => _options.Reserve / 4 * 3,
        SpaceUse.Trims => _options.Reserve / 2,
        _ => 0,
    };

    // An upper bound for the state record that a segment begins with.
    private static readonly int StateFrame = FrameSize(128);

    private static int FrameSize(int bodyLength) =>
        IRecordLog.FrameHeader + RecordCodec.Align(RecordCodec.HeaderSize + bodyLength);

    // As every record log places a frame.
    private long PlaceOf(int frameSize, long tail)
    {
        var offset = tail % _options.LogPageSize;
        return offset + frameSize <= _options.LogPageSize ? tail : tail - offset + _options.LogPageSize;
    }

    // From the middle of a segment on, the whole next one: its zeros are synced in a file that commits do not touch.
    private void WantSpace(long tail)
    {
        var needed = tail + _options.Reserve + (_options.SegmentSize / 2);
        _space.Want((needed + _options.SegmentSize - 1) / _options.SegmentSize * _options.SegmentSize);
    }
}
