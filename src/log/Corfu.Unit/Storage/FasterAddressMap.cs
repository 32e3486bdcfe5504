using FASTER.core;

namespace Corfu.Unit;

/// <summary>The address map as a FasterKV: hash index and newest entries in memory, the rest in a scratch
/// file.</summary>
internal sealed class FasterAddressMap : IAddressMap
{
    private readonly PlainFileDevice _device;
    private readonly FasterCheckpointFiles _checkpoints = new();
    private readonly DeviceLogCommitCheckpointManager _checkpointManager;
    private readonly FasterKV<long, Entry> _kv;
    private readonly ClientSession<long, Entry, Entry, Entry, Empty, Functions> _session;
    private readonly string _folder;

    public FasterAddressMap(string scratchDirectory, long indexSize, long memory, Action<Exception> failed,
        Guid? checkpoint = null, WriteBytes? write = null)
    {
        _folder = scratchDirectory;
        if (checkpoint is null && Directory.Exists(scratchDirectory)) Directory.Delete(scratchDirectory, true);
        PrivateFolder.Create(scratchDirectory);
        // A failed write ends the unit: slots may be missing. A full disk does not: pages are refused then, and the
        // log's reserve bounds the trims that still come.
        _device = new PlainFileDevice(Path.Combine(scratchDirectory, "map"),
            error => failed(new StoreFailedException($"The address map cannot be written: {error.Message}", error)),
            holdsWhenFull: true, write);
        // MapCheckpoint decides which checkpoints are deleted.
        _checkpointManager = new DeviceLogCommitCheckpointManager(_checkpoints, scratchDirectory);
        _kv = new FasterKV<long, Entry>(new FasterKVSettings<long, Entry>
        {
            IndexSize = indexSize,
            MemorySize = memory,
            PageSize = Math.Min(1 << 20, memory / 16),
            // Scratch files of this size come and go as the log's segments do.
            SegmentSize = Math.Max(ScratchSegment, Math.Min(1 << 20, memory / 16)),
            LogDevice = _device,
            CheckpointManager = _checkpointManager,
            ConcurrencyControlMode = ConcurrencyControlMode.None,
        });
        if (checkpoint is { } token) Recover(token);
        _session = _kv.For(new Functions()).NewSession<Functions>();
    }

    public Guid BeginCheckpoint() => _kv.TryInitiateFullCheckpoint(out var token, CheckpointType.FoldOver)
        ? token
        : throw new StoreFailedException("The address map takes no checkpoint.");

    public async ValueTask EndCheckpointAsync(Guid token)
    {
        await _kv.CompleteCheckpointAsync();
        _device.Sync();
        _checkpoints.Sync(token);
        DurableFile.SyncDirectory(_folder);
    }

    private void Recover(Guid token)
    {
        try
        {
            // FASTER would recover from a part of a checkpoint.
            if (!_checkpoints.IsWhole(token)) throw new IOException("a part of it is missing.");
            _kv.Recover(token);
        }
        catch (Exception error)
        {
            // FASTER throws exceptions of any type here. The log has everything.
            _kv.Dispose();
            _checkpointManager.Dispose();
            _device.Dispose();
            throw new StoreFailedException($"The checkpoint {token} of the address map cannot be used: {error.Message}",
                error);
        }
    }

    private const int ScratchSegment = 16 << 20;

    public long Tail => _kv.Log.TailAddress;

    public long Bytes => _kv.Log.TailAddress - _kv.Log.BeginAddress;

    public void Forget(long before)
    {
        if (before > _kv.Log.BeginAddress) _kv.Log.ShiftBeginAddress(before, truncateLog: true);
    }

    public PageSlot Find(LogPosition position)
    {
        var key = position.Offset;
        var (status, entry) = _session.Read(key);
        if (status.IsPending)
        {
            _session.CompletePendingWithOutputs(out var outputs, wait: true);
            using (outputs)
            {
                if (!outputs.Next()) throw new StoreFailedException("The address map lost a read.");
                status = outputs.Current.Status;
                entry = outputs.Current.Output;
            }
        }

        if (status.Found) return entry.ToSlot();
        return status.NotFound ? default : throw new StoreFailedException($"The address map failed: {status}.");
    }

    public void Set(LogPosition position, in PageSlot slot)
    {
        var entry = new Entry(slot);
        var key = position.Offset;
        var status = _session.Upsert(ref key, ref entry);
        if (status.IsPending) _session.CompletePending(wait: true);
        else if (status.IsFaulted) throw new StoreFailedException($"The address map failed: {status}.");
    }

    public void Dispose()
    {
        _session.Dispose();
        _kv.Dispose();
        _checkpointManager.Dispose();
        _device.Dispose();
    }

    // Never in place: entries stand in the order of the log's records, so that the map's beginning can be dropped with
    // the log's.
    private sealed class Functions : SimpleFunctions<long, Entry>
    {
        public override bool ConcurrentWriter(ref long key, ref Entry input, ref Entry src, ref Entry dst,
            ref Entry output, ref UpsertInfo upsertInfo) => false;
    }

    private readonly struct Entry(in PageSlot slot)
    {
        private readonly long _address = slot.Address;
        private readonly long _lsn = slot.Lsn;
        private readonly long _sequence = slot.Origin.Sequence;
        private readonly Guid _writer = slot.Origin.Writer.Value;
        private readonly int _length = slot.Length;
        private readonly int _headerAndState = (slot.HeaderLength << 3) | (int)slot.State;

        public PageSlot ToSlot() => new((PageState)(_headerAndState & 7), _address, _length, _headerAndState >> 3,
            new EntryOrigin(new WriterId(_writer), _sequence), _lsn);
    }
}
