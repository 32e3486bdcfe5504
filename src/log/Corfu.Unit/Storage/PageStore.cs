namespace Corfu.Unit;

/// <summary>The unit's disk: a log of records, which is the only truth (R3), and an address map over it, each behind a
/// port. This class encodes records, recovers, cleans segments and keeps checkpoints of the map; <see cref="GroupLog"/>
/// places records and makes them durable. The simulator runs both as they are.</summary>
internal sealed partial class PageStore : IPageStore, ICleanableStore, ILogObserver
{
    // An upper bound for the state record that a segment begins with.
    private const int StateSize = RecordCodec.HeaderSize + 128;

    private readonly ISegmentFiles _files;
    private readonly PageStoreOptions _options;
    private readonly uint _logId;
    private readonly GroupLog _log;
    private readonly IAddressMaps<long, PageEntry> _maps;
    private readonly SegmentCatalog _catalog;

    // Set by the recovery.
    private IAddressMap<long, PageEntry> _map = null!;

    // Guards the chain of records and what is known of the segments.
    private readonly Lock _gate = new();
    private long _lastRecord;
    private uint _lastCheck;
    private uint _incarnation;

    private long _begin;
    private bool _disposed;

    internal PageStore(ISegmentFiles files, OpenRecordLog openLog, IAddressMaps<long, PageEntry> maps,
        IWorkers workers, NodeId unit, PageStoreOptions options)
    {
        PageStoreOptions.Rules.Check(options);
        _files = files;
        _maps = maps;
        Workers = workers;
        _options = options;
        _logId = RecordCodec.LogIdOf(unit);
        _log = new GroupLog("corfu-unit-log", _logId, files, openLog, options.Log, workers, this);
        _catalog = new SegmentCatalog(options.SegmentSize);
    }

    /// <summary>On FASTER, with a thread for each worker.</summary>
    /// <param name="mapFolder">For the address map's overflow and its checkpoints.</param>
    public static PageStore OnFaster(ISegmentFiles files, NodeId unit, PageStoreOptions options, string mapFolder) =>
        new(files, (f, space, o) => new FasterRecordLog(f, space, o), PageMaps.OnFaster(mapFolder, options),
            ThreadWorkers.Instance, unit, options);

    public IStoreObserver? Observer { get; set; }

    public Func<LogRecord>? StateRecord { private get; set; }

    public ICleanableStore Cleanable => this;

    public long AppendedUntil => _log.AppendedUntil;

    public long DurableUntil => _log.DurableUntil;

    public (long Pages, long Bytes) Size =>
        (_catalog.Pages,
            (_catalog.Count - 1L) * _options.SegmentSize + (AppendedUntil % _options.SegmentSize));

    public UnitHealth Health => _log.Space.IsFull ? UnitHealth.ReadOnly : UnitHealth.Ok;

    public (long Free, long Total)? Disk => _log.Space.Room;

    public string? Shortage => _log.Space.IsNearlyFull(out var left)
        ? $"The disk is nearly full: {left >> 20} MiB are left before pages are refused."
        : null;

    /// <summary>Records that the start read: all, or those behind a checkpoint.</summary>
    public long RecordsRead { get; private set; }

    public bool StartedFromCheckpoint { get; private set; }

    /// <summary>Bytes that the address map takes, in memory and in its scratch files.</summary>
    public long MapBytes => _map.Bytes;

    public PageSlot Find(LogPosition position) => _map.Find(position.Offset).ToSlot();

    public void Set(LogPosition position, in PageSlot slot) =>
        _map.Set(position.Offset, new PageEntry(slot));

    public IWorkers Workers { get; }

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

    public void Commit() => _log.Commit();

    public async ValueTask DisposeAsync()
    {
        if (_disposed) return;
        _disposed = true;
        await _log.DisposeAsync();
        _map?.Dispose();
        _files.Dispose();
    }

    void ILogObserver.OnCommitted(long from, long until, TimeSpan took)
    {
        UnitTelemetry.Commits.Add(1);
        UnitTelemetry.CommittedBytes.Add(until - from);
        UnitTelemetry.SyncTime.Record(took.TotalSeconds);
        var synced = Workers.Time.GetTimestamp();
        Observer?.OnDurable(until, took);
        UnitTelemetry.CommitTime.Record((took + Workers.Time.GetElapsedTime(synced)).TotalSeconds);
    }

    void ILogObserver.OnFailed(StoreFailedException error) => Observer?.OnFailed(error);

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

    private int Kept(SpaceUse use) => use switch
    {
        SpaceUse.Pages => _options.Reserve,
        SpaceUse.Fills => _options.Reserve / 4 * 3,
        SpaceUse.Trims => _options.Reserve / 2,
        _ => 0,
    };
}
