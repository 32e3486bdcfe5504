using FASTER.core;

namespace Corfu.Storage;

/// <summary>The record log as a FasterLog, for its paged, lock-free tail and its flush scheduling. fdatasync and errors
/// are the device's business, recovery is the store's own scan.</summary>
public sealed class FasterRecordLog : IRecordLog
{
    private readonly FasterLogDevice _device;
    private readonly FasterLog _log;

    public FasterRecordLog(ISegmentFiles files, SegmentSpace space, RecordLogSizes sizes)
    {
        _device = new FasterLogDevice(files, space);
        _log = new FasterLog(new FasterLogSettings
        {
            LogDevice = _device,
            LogCommitManager = new NoFileCommitManager(),
            PageSize = sizes.Page,
            MemorySize = sizes.Memory,
            SegmentSize = sizes.Segment,
            MutableFraction = 0,
            LogChecksum = LogChecksumType.PerEntry,
            FastCommitMode = true,
            // FASTER's own recovery may find no log, and trusts any commit record.
            TryRecoverLatest = false,
        });
    }

    public long Tail => _log.TailAddress;

    public long FlushedUntil => _log.FlushedUntilAddress;

    public void GoOnFrom(long address, uint incarnation) => _log.Initialize(address, address, (long)incarnation << 32);

    public bool TryAppend(ReadOnlySpan<byte> record, out long frame) => _log.TryEnqueue(record, out frame);

    public void Commit() => _log.Commit();

    public async ValueTask FlushAsync()
    {
        while (await _device.DrainAsync())
        {
        }
    }

    public void Dispose() => _log.Dispose();

    /// <summary>Keeps no commit metadata: recovery goes by the records themselves. The default manager creates and
    /// deletes a file per commit and only logs its errors.</summary>
    private sealed class NoFileCommitManager : ILogCommitManager
    {
        public void Commit(long beginAddress, long untilAddress, byte[] commitMetadata, long commitNum,
            bool forceWriteMetadata)
        {
        }

        public byte[] GetCommitMetadata(long commitNum) => [];

        public IEnumerable<long> ListCommits() => [];

        public void RemoveCommit(long commitNum)
        {
        }

        public void RemoveAllCommits()
        {
        }

        public void OnRecovery(long commitNum)
        {
        }

        public void Dispose()
        {
        }
    }
}

/// <summary>FASTER's view of the segment files. Its writes are queued, and <see cref="DrainAsync"/> carries them out on
/// the store's writer thread: all writes, one fdatasync per file touched, then the callbacks. (FASTER's own Linux
/// device opens its files O_SYNC, locks per I/O and never syncs a directory.)</summary>
internal sealed class FasterLogDevice(ISegmentFiles files, SegmentSpace space)
    : StorageDeviceBase("corfu-log", SectorBytes, -1)
{
    private const uint SectorBytes = 512;
    private const uint IoError = 5;

    private readonly Lock _gate = new();
    private List<PendingWrite> _pending = [];
    private List<PendingWrite> _running = [];
    private readonly SortedSet<int> _touched = [];

    public override void WriteAsync(IntPtr sourceAddress, int segmentId, ulong destinationAddress, uint numBytesToWrite,
        DeviceIOCompletionCallback callback, object context)
    {
        lock (_gate)
            _pending.Add(new PendingWrite(sourceAddress, segmentId, (long)destinationAddress, (int)numBytesToWrite,
                callback, context));
    }

    /// <summary>Makes durable everything queued so far; false if there was nothing. Reports an error to FASTER, then
    /// throws it.</summary>
    public async ValueTask<bool> DrainAsync()
    {
        lock (_gate)
        {
            if (_pending.Count == 0) return false;
            (_pending, _running) = (_running, _pending);
        }

        var done = false;
        try
        {
            foreach (var write in _running) Write(write);
            foreach (var segment in _touched) await files.SyncAsync(segment);
            done = true;
        }
        finally
        {
            _touched.Clear();
            foreach (var write in _running) write.Callback(done ? 0 : IoError, (uint)write.Length, write.Context);
            _running.Clear();
        }

        return true;
    }

    public override unsafe void ReadAsync(int segmentId, ulong sourceAddress, IntPtr destinationAddress,
        uint readLength, DeviceIOCompletionCallback callback, object context)
    {
        files.Read(segmentId, (long)sourceAddress, new Span<byte>((void*)destinationAddress, (int)readLength));
        callback(0, readLength, context);
    }

    /// <summary>Not used: the store deletes segments, when the record that replaces them is durable.</summary>
    public override void RemoveSegmentAsync(int segment, AsyncCallback callback, IAsyncResult result) =>
        callback(result);

    public override void Dispose()
    {
    }

    private unsafe void Write(in PendingWrite write)
    {
        space.EnsureSegment(write.Segment);
        files.Write(write.Segment, write.Offset, new ReadOnlySpan<byte>((void*)write.Source, write.Length));
        _touched.Add(write.Segment);
    }

    private readonly record struct PendingWrite(
        IntPtr Source, int Segment, long Offset, int Length, DeviceIOCompletionCallback Callback, object Context);
}
