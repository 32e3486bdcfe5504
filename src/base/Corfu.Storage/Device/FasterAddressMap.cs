using System.Collections.Concurrent;
using FASTER.core;

namespace Corfu.Storage;

/// <summary>The address map as a FasterKV: hash index and newest entries in memory, the rest in a scratch
/// file. Entries are never changed in place, so a second session reads beside the first.</summary>
internal sealed class FasterAddressMap<TKey, TSlot> : IAddressMap<TKey, TSlot>
    where TKey : unmanaged, IEquatable<TKey>
    where TSlot : unmanaged
{
    private readonly PlainFileDevice _device;
    private readonly FasterCheckpointFiles _checkpoints = new();
    private readonly DeviceLogCommitCheckpointManager _checkpointManager;
    private readonly FasterKV<TKey, TSlot> _kv;
    private readonly ClientSession<TKey, TSlot, TSlot, TSlot, long, Functions> _session;
    private readonly string _folder;

    // Reads from other threads. Guarded by itself.
    private readonly ClientSession<TKey, TSlot, TSlot, TSlot, long, Functions> _loading;

    // Between the beginning and the end of a checkpoint no read may stay pending: FASTER waits for the reads of the
    // version before.
    private volatile bool _checkpointing;
    private bool _pending;

    // All below is written. FASTER's own tail includes the slot that is being written, whose memory may still hold
    // what an earlier run had written behind the checkpoint that this one has begun with.
    private long _tail;
    private long _calls;

    // Keys whose slots were read just now, and so are in the file system's memory.
    private readonly ConcurrentDictionary<TKey, bool> _loaded = new();

    /// <param name="hash">Null: FASTER's own.</param>
    public FasterAddressMap(string scratchDirectory, AddressMapSizes sizes, Action<Exception> failed,
        Func<TKey, long>? hash, Guid? checkpoint = null, WriteBytes? write = null)
    {
        var memory = sizes.Memory;
        _folder = scratchDirectory;
        if (checkpoint is null && Directory.Exists(scratchDirectory)) Directory.Delete(scratchDirectory, true);
        PrivateFolder.Create(scratchDirectory);
        // A failed write ends the store: slots may be missing. A full disk does not: the store refuses writes then, and
        // the log's reserve bounds the entries that still come.
        _device = new PlainFileDevice(Path.Combine(scratchDirectory, "map"),
            error => failed(new StoreFailedException($"The address map cannot be written: {error.Message}", error)),
            holdsWhenFull: true, write);
        // The store decides which checkpoints are deleted, by Purge.
        _checkpointManager = new DeviceLogCommitCheckpointManager(_checkpoints, scratchDirectory);
        _kv = new FasterKV<TKey, TSlot>(new FasterKVSettings<TKey, TSlot>
        {
            IndexSize = sizes.Index,
            MemorySize = memory,
            PageSize = Math.Min(1 << 20, memory / 16),
            // Scratch files of this size come and go as the log's segments do.
            SegmentSize = Math.Max(ScratchSegment, Math.Min(1 << 20, memory / 16)),
            LogDevice = _device,
            CheckpointManager = _checkpointManager,
            ConcurrencyControlMode = ConcurrencyControlMode.None,
            EqualityComparer = hash is null ? null : new Comparer(hash),
        });
        if (checkpoint is { } token) Recover(token);
        _tail = _kv.Log.TailAddress;
        _session = _kv.For(new Functions()).NewSession<Functions>();
        _loading = _kv.For(new Functions()).NewSession<Functions>();
    }

    public Guid BeginCheckpoint()
    {
        _checkpointing = true;
        Settle();
        if (_kv.TryInitiateFullCheckpoint(out var token, CheckpointType.FoldOver)) return token;
        _checkpointing = false;
        throw new StoreFailedException("The address map takes no checkpoint.");
    }

    public async ValueTask EndCheckpointAsync(Guid token)
    {
        try
        {
            await _kv.CompleteCheckpointAsync();
        }
        finally
        {
            _checkpointing = false;
        }

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
    private const int MaxLoaded = 64 << 10;

    public long Tail => Volatile.Read(ref _tail);

    public long Bytes => _kv.Log.TailAddress - _kv.Log.BeginAddress;

    public void Forget(long before)
    {
        if (before <= _kv.Log.BeginAddress) return;
        // FASTER writes nothing below the beginning. A recovery reads whole pages, and steps from entry to entry: a gap
        // before the beginning's first written sector would lead it into the middle of an entry.
        _kv.Log.ShiftReadOnlyAddress(before, wait: true);
        _kv.Log.ShiftBeginAddress(before, truncateLog: true);
    }

    public TSlot Find(TKey key)
    {
        Settle();
        return Find(_session, key);
    }

    public bool TryFind(TKey key, out TSlot slot)
    {
        var waits = _checkpointing || _loaded.TryRemove(key, out _);
        PlainFileDevice.Defers = !waits;
        try
        {
            var call = ++_calls;
            TSlot found = default;
            var status = _session.Read(ref key, ref found, call);
            if (!status.IsPending)
            {
                slot = Found(status, found);
                return true;
            }

            // Also ends reads of earlier calls, whose slots may be superseded by now.
            _pending = !_session.CompletePendingWithOutputs(out var outputs, waits);
            var ended = false;
            slot = default;
            using (outputs)
            {
                while (outputs.Next())
                {
                    if (outputs.Current.Context != call) continue;
                    slot = Found(outputs.Current.Status, outputs.Current.Output);
                    ended = true;
                }
            }

            return ended;
        }
        finally
        {
            PlainFileDevice.Defers = false;
        }
    }

    public ValueTask LoadAsync(TKey key) => new(Task.Run(() =>
    {
        lock (_loading) Find(_loading, key);
        if (_loaded.Count >= MaxLoaded) _loaded.Clear();
        _loaded.TryAdd(key, true);
    }));

    public void Set(TKey key, in TSlot slot)
    {
        var entry = slot;
        var status = _session.Upsert(ref key, ref entry);
        if (status.IsPending) _session.CompletePending(wait: true);
        else if (status.IsFaulted) throw new StoreFailedException($"The address map failed: {status}.");
        Volatile.Write(ref _tail, _kv.Log.TailAddress);
    }

    public ValueTask ScanAsync(long from, long until, Action<TKey, TSlot> visit) => new(Task.Run(() =>
    {
        using var entries = _kv.Log.Scan(Math.Max(from, _kv.Log.BeginAddress), until);
        while (entries.GetNext(out _)) visit(entries.GetKey(), entries.GetValue());
    }));

    public void Dispose()
    {
        Settle();
        _session.Dispose();
        lock (_loading) _loading.Dispose();
        _kv.Dispose();
        _checkpointManager.Dispose();
        _device.Dispose();
    }

    private static TSlot Find(ClientSession<TKey, TSlot, TSlot, TSlot, long, Functions> session, TKey key)
    {
        var (status, slot) = session.Read(key);
        if (!status.IsPending) return Found(status, slot);
        session.CompletePendingWithOutputs(out var outputs, wait: true);
        using (outputs)
        {
            return outputs.Next()
                ? Found(outputs.Current.Status, outputs.Current.Output)
                : throw new StoreFailedException("The address map lost a read.");
        }
    }

    private static TSlot Found(Status status, in TSlot slot)
    {
        if (status.Found) return slot;
        return status.NotFound ? default : throw new StoreFailedException($"The address map failed: {status}.");
    }

    // Ends the reads whose callers have gone away.
    private void Settle()
    {
        if (!_pending) return;
        _session.CompletePending(wait: true);
        _pending = false;
    }

    // Never in place: entries stand in the order in which they were entered, so that the map's beginning can be dropped
    // with the log's.
    private sealed class Functions : SimpleFunctions<TKey, TSlot, long>
    {
        public override bool ConcurrentWriter(ref TKey key, ref TSlot input, ref TSlot src, ref TSlot dst,
            ref TSlot output, ref UpsertInfo upsertInfo) => false;
    }

    private sealed class Comparer(Func<TKey, long> hash) : IFasterEqualityComparer<TKey>
    {
        public long GetHashCode64(ref TKey key) => hash(key);

        public bool Equals(ref TKey a, ref TKey b) => a.Equals(b);
    }
}
