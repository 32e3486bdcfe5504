using Corfu.Protocol;
using FASTER.core;

namespace Corfu.Unit;

/// <summary>
/// The store on disk: a FasterLog of records over plain files, a FasterKV as address map. FASTER gives the paged, lock-free tail and
/// the flush scheduling; what it does not give on Linux (fdatasync, honest errors, a trustworthy recovery) is in the device, the
/// recovery scan and the mark. One writer thread commits, writes, syncs and reports, whenever something waits.
/// </summary>
public sealed partial class FasterPageStore : IPageStore
{
    private const int FrameHeader = 12; // FASTER's, before each record: XOR checksum (8), length (4)
    private const int CommitRecordSlack = 1024;
    private const int MarkIntervalBatches = 256;
    private const int MarkIdleMilliseconds = 100;

    private readonly ISegmentFiles _files;
    private readonly FasterStoreOptions _options;
    private readonly uint _logId;
    private readonly DurableMark _mark;
    private readonly SegmentSpace _space;
    private readonly LogDevice _device;
    private readonly FasterLog _log;
    private readonly string _mapFolder;

    // There from the recovery on.
    private FasterPageMap _map = null!;
    private readonly HotPages _hot;
    private readonly SegmentCatalog _catalog;
    private readonly WakeableThread _writer;
    private readonly byte[] _scratch;

    // Guards the log's tail: appends and commits never overlap, so that a record's address is known before it is written (R6).
    private readonly object _gate = new();
    private long _lastRecord;
    private uint _lastCheck;
    private long _lastEnd;
    private uint _incarnation;
    private StoreFailedException? _failure;

    // Written by the writer thread only.
    private long _durable;
    private long _committed;
    private long _marked;
    private int _batchesSinceMark;

    private long _begin;
    private bool _disposed;

    /// <param name="scratchDirectory">For the address map's overflow; emptied at start and end.</param>
    public FasterPageStore(ISegmentFiles files, NodeId unit, FasterStoreOptions options, string scratchDirectory)
    {
        if (options.Fault() is { } fault) throw new ArgumentException(fault, nameof(options));
        _files = files;
        _options = options;
        _logId = RecordCodec.LogIdOf(unit);
        _mark = new DurableMark(files, _logId);
        _space = new SegmentSpace(files, options.SegmentSize, options.Headroom, Fail);
        _device = new LogDevice(files, _space);
        _log = new FasterLog(new FasterLogSettings
        {
            LogDevice = _device,
            LogCommitManager = new NoFileCommitManager(),
            PageSize = options.LogPageSize,
            MemorySize = options.LogMemory,
            SegmentSize = options.SegmentSize,
            MutableFraction = 0,
            LogChecksum = LogChecksumType.PerEntry,
            FastCommitMode = true,
            // Its automatic recovery can come back empty, and believes any commit record.
            TryRecoverLatest = false,
        });
        _mapFolder = scratchDirectory;
        _hot = new HotPages(options.HotBytes);
        _catalog = new SegmentCatalog(options.SegmentSize);
        _writer = new WakeableThread("corfu-unit-log", Step, Fail);
        _scratch = new byte[options.LogPageSize];
    }

    public IStoreObserver? Observer { get; set; }

    public long AppendedUntil => Volatile.Read(ref _lastEnd);

    public long DurableUntil => Volatile.Read(ref _durable);

    public (long Pages, long Bytes) Size => (_catalog.Pages, (_catalog.Count - 1L) * _options.SegmentSize + (Volatile.Read(ref _lastEnd) % _options.SegmentSize));

    /// <summary>Records that the start read: all that the log holds, or those behind a checkpoint.</summary>
    public long RecordsRead { get; private set; }

    /// <summary>Bytes that the address map takes, in memory and in its scratch files.</summary>
    public long MapBytes => _map.Bytes;

    public PageSlot Find(LogPosition position) => _map.Find(position);

    public void Set(LogPosition position, in PageSlot slot) => _map.Set(position, slot);

    public async ValueTask DisposeAsync()
    {
        if (_disposed) return;
        _disposed = true;
        await Task.Yield();
        _writer.Dispose();
        _space.Dispose();
        if (_failure is null && _durable > 0) _mark.Write(_durable, sync: true);
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
            failure = _failure = error as StoreFailedException ?? new StoreFailedException($"The log could not be written: {error.Message}", error);
        }

        Observer?.OnFailed(failure);
    }
}
