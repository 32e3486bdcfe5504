namespace Corfu.Storage;

/// <summary>A log of records that are made durable in groups: places and admits records, and commits all that were
/// appended while the commit before was under way. Keeps the durable mark and the newest bytes. The records' format is
/// the store's; no record of it is written before <see cref="StartAsync"/>.</summary>
public sealed partial class GroupLog : IAsyncDisposable
{
    private const int MarkIntervalBatches = 256;
    private const int MarkIdleMilliseconds = 100;

    private readonly ISegmentFiles _files;
    private readonly RecordLogSizes _sizes;
    private readonly ILogObserver _observer;
    private readonly DurableMark _mark;
    private readonly IRecordLog _log;
    private readonly HotPages _hot;
    private readonly IWorker _writer;
    private readonly TimeProvider _time;
    private readonly byte[] _scratch;

    // Guards the log's tail: appends and commits never overlap, so that a record's address is known before it is
    // written.
    private readonly Lock _gate = new();
    private long _end;
    private StoreFailedException? _failure;

    // Everything below was deleted. Never falls.
    private long _begin;

    // Written by the writer only.
    private long _durable;
    private long _committed;
    private long _marked;
    private int _batchesSinceMark;

    /// <param name="name">Name of the writer's thread.</param>
    /// <param name="logId">Marks of other logs count for nothing.</param>
    public GroupLog(string name, uint logId, ISegmentFiles files, OpenRecordLog open, RecordLogSizes sizes,
        IWorkers workers, ILogObserver observer)
    {
        _files = files;
        _sizes = sizes;
        _observer = observer;
        _mark = new DurableMark(files, logId);
        Space = new SegmentSpace(files, sizes.Segment, sizes.Headroom, workers, Fail);
        _log = open(files, Space, sizes);
        _hot = new HotPages(sizes.Hot);
        _writer = workers.Create(name, StepAsync, Fail);
        _time = workers.Time;
        _scratch = new byte[sizes.Page];
    }

    /// <summary>Writes a record into exactly its size.</summary>
    /// <param name="address">The record is read back at this address.</param>
    public delegate void RecordWriter<in TState>(TState state, long address, Span<byte> target);

    public SegmentSpace Space { get; }

    /// <summary>Everything below was deleted.</summary>
    public long Begin => Volatile.Read(ref _begin);

    /// <summary>The end of what was appended.</summary>
    public long AppendedUntil => Volatile.Read(ref _end);

    /// <summary>Everything below is durable.</summary>
    public long DurableUntil => Volatile.Read(ref _durable);

    /// <summary>The address at which the next record would stand, unless a commit comes between.</summary>
    public long NextAddress(int size) => PlaceOf(FrameOf(size), _log.Tail) + IRecordLog.FrameHeader;

    /// <summary>Whether a record may be appended now.</summary>
    /// <param name="before">The size of a record that goes before this one; 0: none.</param>
    /// <param name="kept">Room that must stay.</param>
    public Admission Admit(int size, int before, int kept)
    {
        var frame = FrameOf(size);
        if (frame > _sizes.Page) return Admission.TooLarge;
        var tail = _log.Tail;
        if (before > 0) tail = PlaceOf(FrameOf(before), tail) + FrameOf(before);
        var end = PlaceOf(frame, tail) + frame + IRecordLog.CommitFrame;
        // A page of the log's memory stays free, so that neither an append nor a commit ever waits for memory.
        var pages = _sizes.Memory / _sizes.Page;
        if (end / _sizes.Page > (_log.FlushedUntil / _sizes.Page) + pages - 2) return Admission.Overloaded;
        if (end + kept <= Space.Allocated) return Admission.Granted;
        // The space ahead is measured from the record before, and a large one may end beyond it.
        Space.Want(SegmentsUntil(end + kept));
        // Never beyond: the worker that writes zeros ahead may write them there, over a durable record.
        return Space.IsFull ? Admission.NoSpace : Admission.Overloaded;
    }

    /// <summary>Appends an admitted record to the volatile end, and returns its address. Appends are made one at a
    /// time.</summary>
    /// <exception cref="StoreFailedException">The log has failed before, or has no memory left.</exception>
    public long Append<TState>(int size, TState state, RecordWriter<TState> write)
    {
        lock (_gate)
        {
            if (_failure is not null) throw _failure;
            var frame = PlaceOf(FrameOf(size), _log.Tail);
            var address = frame + IRecordLog.FrameHeader;
            var bytes = _scratch.AsSpan(0, size);
            write(state, address, bytes);
            if (!_log.TryAppend(bytes, out var actual)) throw new StoreFailedException("The log has no memory left.");
            // The check inside a record is bound to its address; appends are serial, so it is the predicted one.
            if (actual != frame)
                throw new StoreFailedException($"The log placed a record at {actual} instead of {frame}.");
            _hot.Put(address, bytes);
            var end = IRecordLog.Align(address + size);
            WantSpace(end);
            Volatile.Write(ref _end, end);
            return address;
        }
    }

    /// <summary>Starts making durable what was appended, unless that is already under way.</summary>
    public void Commit()
    {
        if (AppendedUntil > Volatile.Read(ref _committed)) _writer.Kick();
    }

    /// <summary>Reads some of the newest bytes, without a system call; false if they are not in memory.</summary>
    public bool TryReadHot(long address, Span<byte> target) => _hot.TryRead(address, target);

    /// <summary>Reads bytes of the log; none: they were deleted, or the disk cannot read them, which damages only what
    /// stands there.</summary>
    public async ValueTask<ReadOnlyMemory<byte>> TryReadAsync(long address, int length)
    {
        var bytes = new byte[length];
        return TryReadHot(address, bytes) ? bytes : await TryReadStoredAsync(address, bytes);
    }

    /// <summary>Reads bytes of the log as the files have them, the newest ones too; none: as of
    /// <see cref="TryReadAsync"/>.</summary>
    public ValueTask<ReadOnlyMemory<byte>> TryReadStoredAsync(long address, int length) =>
        TryReadStoredAsync(address, new byte[length]);

    private async ValueTask<ReadOnlyMemory<byte>> TryReadStoredAsync(long address, byte[] bytes)
    {
        if (address < Begin) return default;
        var segment = (int)(address / _sizes.Segment);
        var offset = address % _sizes.Segment;
        try
        {
            if (!_files.TryReadCached(segment, offset, bytes)) await _files.ReadAsync(segment, offset, bytes);
        }
        catch (Exception error) when (error is IOException or ObjectDisposedException)
        {
            return default;
        }

        // The file may have gone meanwhile.
        return address < Begin ? default : bytes;
    }

    /// <summary>Told by the store before it deletes the files below.</summary>
    public void SetBegin(long address) => Volatile.Write(ref _begin, address);

    /// <summary>Ends the log after an error, of its own or of its store; only the first counts.</summary>
    public void Fail(Exception error)
    {
        StoreFailedException failure;
        lock (_gate)
        {
            if (_failure is not null) return;
            failure = error as StoreFailedException
                ?? new StoreFailedException($"The log could not be written: {error.Message}", error);
            _failure = failure;
        }

        _observer.OnFailed(failure);
    }

    public async ValueTask DisposeAsync()
    {
        await Task.Yield();
        await _writer.DisposeAsync();
        await Space.DisposeAsync();
        if (_failure is null && _durable > 0) await _mark.WriteAsync(_durable);
        _log.Dispose();
    }

    // A round of the writer: group commit of everything appended so far.
    private async ValueTask StepAsync()
    {
        long end;
        lock (_gate)
        {
            if (_failure is not null) return;
            end = _end;
            if (end > _committed) _log.Commit();
            _committed = end;
        }

        var began = _time.GetTimestamp();
        await _log.FlushAsync();
        if (_log.FlushedUntil < end) throw new StoreFailedException("The log did not flush all that was committed.");
        var before = _durable;
        if (end > before)
        {
            Volatile.Write(ref _durable, end);
            _observer.OnCommitted(before, end, _time.GetElapsedTime(began));
        }

        await KeepMarkAsync(end > before);
    }

    // Every so many commits, and soon after the last one. Synced: without it, a log that comes back short would pass
    // for a whole one.
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

    private static int FrameOf(int size) => IRecordLog.FrameHeader + IRecordLog.Align(size);

    // As every record log places a frame.
    private long PlaceOf(int frame, long tail)
    {
        var offset = tail % _sizes.Page;
        return offset + frame <= _sizes.Page ? tail : tail - offset + _sizes.Page;
    }

    // From the middle of a segment on, the whole next one: its zeros are synced in a file that commits do not touch.
    private void WantSpace(long tail) => Space.Want(SegmentsUntil(tail + _sizes.Reserve + (_sizes.Segment / 2)));

    private long SegmentsUntil(long address) => (address + _sizes.Segment - 1) / _sizes.Segment * _sizes.Segment;
}

/// <summary>Whether a record may be appended.</summary>
public enum Admission
{
    Granted,

    /// <summary>Never: no page of the log takes it.</summary>
    TooLarge,

    /// <summary>Not now: memory or allocated space is taken by records that are not durable yet.</summary>
    Overloaded,

    /// <summary>Not before there is room on the disk.</summary>
    NoSpace,
}

/// <summary>Called from the log's own thread: handlers are short and never append.</summary>
public interface ILogObserver
{
    /// <summary>The records between the two addresses have become durable.</summary>
    /// <param name="took">The time of the write and the sync.</param>
    void OnCommitted(long from, long until, TimeSpan took);

    /// <summary>A fatal error, reported once: a failed write or sync is never retried, the log is dead until the
    /// process restarts.</summary>
    void OnFailed(StoreFailedException error);
}
