using System.Collections.Concurrent;

namespace Craq.Storage;

/// <summary>A node's disk: one log of records for all chains, which is the only truth (R3), and an index of the clean
/// objects over it, each behind a port. <see cref="GroupLog"/> places records and makes them durable. The simulator
/// runs both as they are.</summary>
/// <remarks>
/// The log is a window that moves on: <see cref="ObjectCleaner"/> copies what still counts of the oldest segment to the
/// end and deletes the segment. So whatever says that something older is void (a deletion, a Drop, a Clear, a newer
/// version) goes after what it makes void, and no record has to outlive its segment for that.
/// </remarks>
internal sealed partial class NodeStore : INodeStore, ILogObserver
{
    private readonly ISegmentFiles _files;
    private readonly NodeStoreOptions _options;
    private readonly uint _logId;
    private readonly GroupLog _log;
    private readonly IAddressMaps<ObjectHash, ObjectEntry> _maps;
    private readonly IWorkers _workers;

    // Changed under the node's lock; listings read it without.
    private readonly ConcurrentDictionary<ChainId, HeldChain> _chains = new();
    private int _lastHolding;

    // Set by the recovery.
    private IAddressMap<ObjectHash, ObjectEntry> _index = null!;
    private long _lastRecord;
    private uint _lastCheck;
    private uint _incarnation;
    private byte[] _body = new byte[1024];

    private ObjectCleaner? _cleaner;
    private bool _disposed;

    // False: the index has no object with an expiry. The index of a start may have some.
    private volatile bool _mayExpire = true;

    internal NodeStore(ISegmentFiles files, OpenRecordLog openLog, IAddressMaps<ObjectHash, ObjectEntry> maps,
        IWorkers workers, NodeId node, NodeStoreOptions options)
    {
        NodeStoreOptions.Rules.Check(options);
        _files = files;
        _maps = maps;
        _workers = workers;
        _options = options;
        _logId = RecordFraming.LogIdOf(node.Value);
        _log = new GroupLog("craq-log", _logId, files, openLog, options.Log, workers, this);
    }

    public INodeStoreObserver? Observer { get; set; }

    public long DurableUntil => _log.DurableUntil;

    public Status Admit(int bytes, StoreUse use) => Admit(bytes, use switch
    {
        StoreUse.Writes => _options.Reserve,
        StoreUse.Deletes => _options.Reserve / 2,
        _ => 0,
    });

    public StorePlace Append(StoreRecordKind kind, ChainId chain, ObjectVersion version, ReadOnlySpan<byte> body)
    {
        var place = Add(kind, StoreRecordKind.None, chain, version, body);
        _budget += BytesPerAppended * (long)Sized(body.Length);
        return place;
    }

    public void Commit() => _log.Commit();

    public bool TryFind(ChainId chain, ObjectKey key, out ObjectSlot? slot)
    {
        slot = null;
        if (!_chains.TryGetValue(chain, out var held)) return true;
        if (!_index.TryFind(ObjectHash.Of(chain, key), out var entry)) return false;
        if (IsLive(entry, held)) slot = entry.ToSlot();
        return true;
    }

    public ValueTask LoadAsync(ChainId chain, ObjectKey key) => _index.LoadAsync(ObjectHash.Of(chain, key));

    public void Set(ChainId chain, ObjectKey key, in ObjectSlot slot)
    {
        var held = Hold(chain);
        Enter(held, chain, key, new ObjectEntry(slot, held.Holding, key.Bytes.Length));
    }

    public void Remove(ChainId chain, ObjectKey key, ObjectVersion version, long address)
    {
        var held = Hold(chain);
        Enter(held, chain, key, ObjectEntry.Removed(version, address, held.Holding));
    }

    public void Clear(ChainId chain, ObjectVersion below)
    {
        var held = Hold(chain);
        if (below <= held.Cleared) return;
        held.Cleared = below;
        _objects -= held.Objects;
        Dead(held.LiveBytes);
        (held.LiveBytes, held.Objects) = (0, 0);
    }

    public void Forget(ChainId chain)
    {
        if (!_chains.TryRemove(chain, out var held)) return;
        _objects -= held.Objects;
        Dead(held.LiveBytes);
    }

    public async ValueTask DisposeAsync()
    {
        if (_disposed) return;
        _disposed = true;
        await AttachAsync(null);
        await _log.DisposeAsync();
        _index?.Dispose();
        _files.Dispose();
    }

    void ILogObserver.OnCommitted(long from, long until, TimeSpan took)
    {
        ReleaseWaiters(until, null);
        Observer?.OnDurable(until);
    }

    void ILogObserver.OnFailed(StoreFailedException error)
    {
        ReleaseWaiters(long.MaxValue, error);
        Observer?.OnFailed(error);
    }

    private static int Sized(int body) => RecordFraming.HeaderSize + NodeScanRules.Prefix + body;

    private static bool IsLive(in ObjectEntry entry, HeldChain held) =>
        entry.IsObject && entry.Holding == held.Holding && entry.Version >= held.Cleared;

    private Status Admit(int bytes, int kept) => _log.Admit(Sized(bytes), 0, kept) switch
    {
        Admission.Granted => Status.Ok,
        Admission.TooLarge => Status.TooLarge,
        Admission.NoSpace => Status.NoSpace,
        _ => Status.Overloaded,
    };

    private HeldChain Hold(ChainId chain)
    {
        if (_chains.TryGetValue(chain, out var held)) return held;
        held = new HeldChain(++_lastHolding);
        _chains[chain] = held;
        return held;
    }

    // The newest version counts, whatever the order in which records come. What loses and stands behind what wins would
    // count again once the winner is gone: a record behind both will say that it is void.
    private void Enter(HeldChain held, ChainId chain, ObjectKey key, in ObjectEntry entry)
    {
        var hash = ObjectHash.Of(chain, key);
        var before = _index.Find(hash);
        if (before.Holding != held.Holding) before = default;
        if (before.IsNone && !entry.IsObject) return;
        var isOlder = before.Version > entry.Version
            || (before.Version == entry.Version && !before.IsNone && before.IsObject == entry.IsObject
                && before.Address >= entry.Address);
        var (winner, loser) = isOlder ? (before, entry) : (entry, before);
        if (loser.IsObject && loser.Address > winner.Address && loser.Version != winner.Version)
            _owed.Add((chain, key.ToOwned(), loser.Version));
        if (isOlder) return;
        _index.Set(hash, entry);
        if (entry.Expiry > 0) _mayExpire = true;
        Count(held, before, entry);
    }

    private void Count(HeldChain held, in ObjectEntry before, in ObjectEntry after)
    {
        var was = IsLive(before, held);
        var now = IsLive(after, held);
        var objects = (now ? 1 : 0) - (was ? 1 : 0);
        held.Objects += objects;
        _objects += objects;
        held.LiveBytes += (now ? after.Weight : 0) - (was ? before.Weight : 0);
        if (now) _liveBytes += after.Weight;
        if (was) Dead(before.Weight);
    }

    private StorePlace Add(StoreRecordKind kind, StoreRecordKind original, ChainId chain, ObjectVersion version,
        ReadOnlySpan<byte> body)
    {
        var length = NodeScanRules.Prefix + body.Length;
        if (_body.Length < length) _body = new byte[Math.Max(length, 2 * _body.Length)];
        var bytes = _body.AsMemory(0, length);
        chain.Value.TryWriteBytes(bytes.Span);
        body.CopyTo(bytes.Span[NodeScanRules.Prefix..]);
        var of = kind == StoreRecordKind.Moved ? original : kind;
        return Add(new FramedRecord((byte)kind, version.Value, (byte)original, bytes,
            NodeScanRules.CheckedLength(of, body)), chain, kind);
    }

    private StorePlace Add(in FramedRecord record, ChainId chain, StoreRecordKind kind)
    {
        var address = _log.Append(RecordFraming.Size(record), (Store: this, Record: record),
            static (s, address, target) => s.Store._lastCheck = RecordFraming.Encode(s.Record, address,
                s.Store._lastRecord, s.Store.DurableUntil, s.Store._incarnation, s.Store._logId, target));
        Note(address, _lastRecord, chain, kind, new ObjectVersion(record.Number));
        _lastRecord = address;
        if (!_checkpointAsked && IsCheckpointDue)
        {
            _checkpointAsked = true;
            _cleaner?.Kick();
        }

        return NodeScanRules.PlaceOf(address, record.Body.Length);
    }
}
