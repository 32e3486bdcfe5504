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
