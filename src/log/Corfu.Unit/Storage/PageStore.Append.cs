namespace Corfu.Unit;

internal sealed partial class PageStore
{
    public UnitHealth Health => _log.Space.IsFull ? UnitHealth.ReadOnly : UnitHealth.Ok;

    public string? Shortage => _log.Space.IsNearlyFull(out var left)
        ? $"The disk is nearly full: {left >> 20} MiB are left before pages are refused."
        : null;

    public Status Admit(int bodyLength, SpaceUse use)
    {
        var before = OpensSegment(bodyLength) ? StateSize : 0;
        return _log.Admit(RecordCodec.HeaderSize + bodyLength, before, Kept(use)) switch
        {
            Admission.Granted => Status.Ok,
            Admission.TooLarge => Status.TooLarge,
            Admission.NoSpace => Status.NoSpace,
            _ => Status.Overloaded,
        };
    }

    public RecordPlace Append(in LogRecord record)
    {
        lock (_gate)
        {
            if (record.Kind == RecordKind.State) return AddState(record);
            if (StateRecord is { } state && OpensSegment(record.Body.Length)) AddState(state());
            return Add(record);
        }
    }

    // The first record of a segment, or of a run: the state goes before it.
    private bool OpensSegment(int bodyLength) =>
        _stateDue || SegmentOf(_log.NextAddress(RecordCodec.HeaderSize + bodyLength)) != SegmentOf(_lastRecord);

    private RecordPlace AddState(in LogRecord state) => Add(state with { Position = new LogPosition(_firstKept) });

    private RecordPlace Add(in LogRecord record)
    {
        var size = RecordCodec.Size(record);
        var address = _log.Append(size, (Store: this, Record: record),
            static (s, address, target) => s.Store.Encode(s.Record, address, target));
        _catalog.Note(record, address, _lastRecord, _map.Tail);
        _stateDue = false;
        _lastRecord = address;
        _records++;
        if (!_checkpointAsked && CheckpointDue)
        {
            _checkpointAsked = true;
            CleaningDue?.Invoke();
        }

        return new RecordPlace(address + RecordCodec.HeaderSize, IRecordLog.Align(address + size));
    }

    private void Encode(in LogRecord record, long address, Span<byte> target) =>
        _lastCheck = RecordCodec.Encode(record, address, _lastRecord, DurableUntil, _incarnation, _logId, target);

    public void Commit() => _log.Commit();

    private int Kept(SpaceUse use) => use switch
    {
        SpaceUse.Pages => _options.Reserve,
        SpaceUse.Fills => _options.Reserve / 4 * 3,
        SpaceUse.Trims => _options.Reserve / 2,
        _ => 0,
    };

    // An upper bound for the state record that a segment begins with.
    private const int StateSize = RecordCodec.HeaderSize + 128;
}
