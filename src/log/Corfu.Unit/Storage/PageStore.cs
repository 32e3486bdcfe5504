namespace Corfu.Unit;

/// <summary>The unit's disk: a log of records, which is the only truth (R3), and an address map over it, each behind a
/// port. This class encodes records, recovers, cleans segments and keeps checkpoints of the map; <see cref="GroupLog"/>
/// places records and makes them durable. The simulator runs both as they are.</summary>
internal sealed partial class PageStore : IPageStore, ICleanableStore, ILogObserver
{
    private readonly ISegmentFiles _files;
    private readonly PageStoreOptions _options;
    private readonly uint _logId;
    private readonly GroupLog _log;
    private readonly IAddressMaps _maps;
    private readonly SegmentCatalog _catalog;

    // Set by the recovery.
    private IAddressMap _map = null!;

    // Guards the chain of records and what is known of the segments.
    private readonly Lock _gate = new();
    private long _lastRecord;
    private uint _lastCheck;
    private uint _incarnation;

    private long _begin;
    private bool _disposed;

    internal PageStore(ISegmentFiles files, OpenRecordLog openLog, IAddressMaps maps, IWorkers workers, NodeId unit,
        PageStoreOptions options)
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
        new(files, (f, space, o) => new FasterRecordLog(f, space, o), new FasterAddressMaps(mapFolder, options),
            ThreadWorkers.Instance, unit, options);

    public IStoreObserver? Observer { get; set; }

    public Func<LogRecord>? StateRecord { private get; set; }

    public ICleanableStore Cleanable => this;

    public long AppendedUntil => _log.AppendedUntil;

    public long DurableUntil => _log.DurableUntil;

    public (long Pages, long Bytes) Size =>
        (_catalog.Pages,
            (_catalog.Count - 1L) * _options.SegmentSize + (AppendedUntil % _options.SegmentSize));

    /// <summary>Records that the start read: all, or those behind a checkpoint.</summary>
    public long RecordsRead { get; private set; }

    public bool StartedFromCheckpoint { get; private set; }

    /// <summary>Bytes that the address map takes, in memory and in its scratch files.</summary>
    public long MapBytes => _map.Bytes;

    public PageSlot Find(LogPosition position) => _map.Find(position);

    public void Set(LogPosition position, in PageSlot slot) => _map.Set(position, slot);

    public IWorkers Workers { get; }

    public async ValueTask DisposeAsync()
    {
        if (_disposed) return;
        _disposed = true;
        await _log.DisposeAsync();
        _map?.Dispose();
        _files.Dispose();
    }

    void ILogObserver.OnCommitted(long from, long until)
    {
        UnitTelemetry.Commits.Add(1);
        UnitTelemetry.CommittedBytes.Add(until - from);
        Observer?.OnDurable(until);
    }

    void ILogObserver.OnFailed(StoreFailedException error) => Observer?.OnFailed(error);
}
