namespace Corfu.Unit;

/// <summary>The unit's disk: a log of records, which is the only truth (R3), and an address map over it, each behind a
/// port. This class places and admits records, commits them in groups, recovers, cleans segments and keeps checkpoints
/// of the map. The simulator runs it as it is.</summary>
internal sealed partial class PageStore : IPageStore
{
    private const int MarkIntervalBatches = 256;
    private const int MarkIdleMilliseconds = 100;

    private readonly ISegmentFiles _files;
    private readonly PageStoreOptions _options;
    private readonly uint _logId;
    private readonly DurableMark _mark;
    private readonly SegmentSpace _space;
    private readonly IRecordLog _log;
    private readonly IAddressMaps _maps;
    private readonly HotPages _hot;
    private readonly SegmentCatalog _catalog;
    private readonly IWorker _writer;
    private readonly byte[] _scratch;

    // Set by the recovery.
    private IAddressMap _map = null!;

    // Guards the log's tail: appends and commits never overlap, so that a record's address is known before it is
    // written (R6).
    private readonly object _gate = new();
    private long _lastRecord;
    private uint _lastCheck;
    private long _lastEnd;
    private uint _incarnation;
    private StoreFailedException? _failure;

    // Written by the writer only.
    private long _durable;
    private long _committed;
    private long _marked;
    private int _batchesSinceMark;

    private long _begin;
    private bool _disposed;

    internal PageStore(ISegmentFiles files, OpenRecordLog openLog, IAddressMaps maps, IWorkers workers, NodeId unit,
        PageStoreOptions options)
    {
        if (options.Fault() is { } fault) throw new ArgumentException(fault, nameof(options));
        _files = files;
        _maps = maps;
        Workers = workers;
        _options = options;
        _logId = RecordCodec.LogIdOf(unit);
        _mark = new DurableMark(files, _logId);
        _space = new SegmentSpace(files, options.SegmentSize, options.Headroom, workers, Fail);
        _log = openLog(files, _space, options);
        _hot = new HotPages(options.HotBytes);
        _catalog = new SegmentCatalog(options.SegmentSize);
        _writer = workers.Create("corfu-unit-log", StepAsync, Fail);
        _scratch = new byte[options.LogPageSize];
    }

    /// <summary>On FASTER, with a thread for each worker.</summary>
    /// <param name="mapFolder">For the address map's overflow and its checkpoints.</param>
    public static PageStore OnFaster(ISegmentFiles files, NodeId unit, PageStoreOptions options, string mapFolder) =>
        new(files, (f, space, o) => new FasterRecordLog(f, space, o), new FasterAddressMaps(mapFolder, options),
            ThreadWorkers.Instance, unit, options);

    public IStoreObserver? Observer { get; set; }

    public long AppendedUntil => Volatile.Read(ref _lastEnd);

    public long DurableUntil => Volatile.Read(ref _durable);

    public (long Pages, long Bytes) Size =>
        (_catalog.Pages,
            (_catalog.Count - 1L) * _options.SegmentSize + (Volatile.Read(ref _lastEnd) % _options.SegmentSize));

    /// <summary>Records that the start read: all, or those behind a checkpoint.</summary>
    public long RecordsRead { get; private set; }

    public bool StartedFromCheckpoint { get; private set; }

    /// <summary>Bytes that the address map takes, in memory and in its scratch files.</summary>
    public long MapBytes => _map.Bytes;

    public PageSlot Find(LogPosition position) => _map.Find(position);

    public void Set(LogPosition position, in PageSlot slot) => _map.Set(position, slot);

    /// <summary>For the cleaner.</summary>
    internal IWorkers Workers { get; }

    public async ValueTask DisposeAsync()
    {
        if (_disposed) return;
        _disposed = true;
        await Task.Yield();
        await _writer.DisposeAsync();
        await _space.DisposeAsync();
        if (_failure is null && _durable > 0) await _mark.WriteAsync(_durable);
        _log.Dispose();
        _map?.Dispose();
        _files.Dispose();
    }

    private void Fail(Exception error)
    {
        StoreFailedException failure;
        lock (_gate)
        {
            if (_failure is not null) return;
            failure = error as StoreFailedException
                ?? new StoreFailedException($"The log could not be written: {error.Message}", error);
            _failure = failure;
        }

        Observer?.OnFailed(failure);
    }
}
