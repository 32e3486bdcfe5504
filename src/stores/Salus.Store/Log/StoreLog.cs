using System.Buffers;

namespace Salus.Store.Log;

/// <summary>A machine's log: the records of all its regions, made durable in groups over all of them, and an index of
/// what each region has. Its records are the only truth; a start reads them all. Thread-safe.</summary>
/// <remarks>
/// The log is a window that moves on. A segment goes when no region needs a record of it; what a slow region still
/// needs is written again at the end, so that it does not keep the log of all.
/// </remarks>
public sealed partial class StoreLog : ILogObserver, IAsyncDisposable
{
    private readonly ISegmentFiles _files;
    private readonly StoreOptions _options;
    private readonly uint _logId;
    private readonly GroupLog _log;
    private readonly LogFreer _freer;

    // Guards everything below, and that records are appended one at a time.
    private readonly Lock _gate = new();
    private readonly Dictionary<RegionKey, RegionLogIndex> _regions = [];
    private readonly Queue<LogSegment> _segments = new();
    private LogSegment? _newest;
    private long _lastRecord;
    private uint _incarnation;
    private readonly ArrayBufferWriter<byte> _body = new(4096);
    private readonly DurableWaits _waits = new();
    private readonly TaskCompletionSource<Exception> _fault =
        new(TaskCreationOptions.RunContinuationsAsynchronously);

    private volatile StoreState _state;
    private bool _disposed;

    /// <param name="store">Records of other stores count for nothing.</param>
    public StoreLog(ISegmentFiles files, OpenRecordLog open, IWorkers workers, NodeId store, StoreOptions options)
    {
        StoreOptions.Rules.Check(options);
        _files = files;
        _options = options;
        _logId = RecordFraming.LogIdOf(store.Value);
        _log = new GroupLog("salus-log", _logId, files, open, options.Log, workers, this);
        _freer = new LogFreer(this, workers, _log.Fail);
    }

    /// <summary>Set before the first append after the recovery.</summary>
    public IStoreObserver? Observer { get; set; }

    public StoreState State => _state;

    /// <summary>Completes, with the reason, when a write or a sync has failed: the log takes nothing more until it is
    /// opened anew.</summary>
    public Task<Exception> Fault => _fault.Task;

    /// <summary>Everything appended below is durable.</summary>
    public long DurableUntil => _log.DurableUntil;

    /// <summary>Bytes of the log's files.</summary>
    public long Bytes
    {
        get
        {
            lock (_gate) return LogBytes;
        }
    }

    /// <summary>Bytes that the file system has left for records.</summary>
    public long Free
    {
        get
        {
            _log.Space.IsNearlyFull(out var left);
            return left;
        }
    }

    /// <summary>The disk had no room for the log's next file, and records are refused. Tried again every
    /// second.</summary>
    public bool IsFull => _log.Space.IsFull;

    // A discard of many ranges in many regions takes more, and waits for its space once it is signed.
    private const int Discard = 4 << 10;

    /// <summary>Whether records without data are taken: on a full disk too, until the part of the reserve that is for
    /// those has gone.</summary>
    public bool TakesDiscards
    {
        get
        {
            lock (_gate) return Admit(Discard, StoreUse.Discards) != Status.NoSpace;
        }
    }

    private long LogBytes =>
        _log.AppendedUntil - (_segments.TryPeek(out var oldest) ? oldest.Index * (long)_options.SegmentSize : 0);

    /// <summary>Appends a record of a region's log; the caller has verified its certificate. A record that is there is
    /// not written again.</summary>
    /// <param name="lsn">The record is durable once the log is durable up to there.</param>
    /// <returns>Ok; Sealed: the record's generation is over; Conflict: another record has the place (S2); BadRequest:
    /// the content is not what the head says; NoSpace, Overloaded, TooLarge or Failed.</returns>
    public Status TryAppend(RegionRecord record, out long lsn) => TryAdd(record, isCopy: false, out lsn);

    /// <summary>Appends a record that a recovery has proven to be the region's, below a seal too: a seal ends what a
    /// generation writes, not what is known of it. Another record of the name is replaced.</summary>
    /// <param name="lsn">As of <see cref="TryAppend"/>.</param>
    /// <returns>As of <see cref="TryAppend"/>, but for Sealed and Conflict.</returns>
    public Status TryCopy(RegionRecord record, out long lsn) => TryAdd(record, isCopy: true, out lsn);

    /// <summary>Ends the generations below at this store (S8). What it has of them stays.</summary>
    /// <param name="lsn">As of <see cref="TryAppend"/>: the seal counts when it is durable.</param>
    /// <returns>As of <see cref="TryAppend"/>; Sealed: by a higher generation.</returns>
    public Status TrySeal(RegionKey region, Epoch generation, out long lsn)
    {
        lock (_gate)
        {
            if (_regions.TryGetValue(region, out var found) && State == StoreState.Serving
                && found.Sealed >= generation)
            {
                lsn = found.SealedLsn;
                return found.Sealed == generation ? Status.Ok : Status.Sealed;
            }
        }

        return TrySay(region, StoreRecordKind.Seal, 0, generation, static (ref _, _) => { }, default(object),
            static (index, generation, lsn) => index.Seal(generation, lsn), generation, out lsn);
    }

    /// <summary>Keeps a proof. Nothing waits for its durability.</summary>
    public Status TryMark(RegionKey region, CommitProof commit, out long lsn) => TrySay(
        region, StoreRecordKind.CommitMark, commit.Batch.Number, Epoch.None,
        static (ref w, commit) => commit.Write(ref w), commit, static (index, commit, _) => index.Mark(commit), commit,
        out lsn);

    /// <summary>Keeps the certificate of a checkpoint.</summary>
    public Status TryCheckpoint(RegionKey region, CheckpointName name, Certificate certificate, out long lsn) => TrySay(
        region, StoreRecordKind.Checkpoint, name.Number, Epoch.None, static (ref w, kept) =>
        {
            kept.Name.Write(ref w);
            kept.Certificate.Write(ref w);
        }, new KeptCheckpoint(name, certificate), static (index, kept, _) => index.Keep(kept),
        new KeptCheckpoint(name, certificate), out lsn);

    /// <summary>Records up to the index are no longer needed: the caller has a certificate of all members that says so
    /// (S19).</summary>
    public Status TryRaiseFloor(RegionKey region, long index, out long lsn)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(index);
        var status = TrySay(region, StoreRecordKind.Floor, index, Epoch.None, static (ref _, _) => { }, default(object),
            static (found, index, _) => found.Raise(index), index, out lsn);
        if (status == Status.Ok) _freer.Kick();
        return status;
    }

    /// <summary>The region's records and marks are no longer needed here.</summary>
    public Status TryForget(RegionKey region, out long lsn)
    {
        var status = TrySay(region, StoreRecordKind.Forget, 0, Epoch.None, static (ref _, _) => { }, default(object),
            static (found, regions, _) => regions.Remove(found.Region), _regions, out lsn);
        if (status == Status.Ok) _freer.Kick();
        return status;
    }

    /// <summary>Starts making durable what was appended, unless that is already under way.</summary>
    public void Commit() => _log.Commit();

    public async ValueTask DisposeAsync()
    {
        if (_disposed) return;
        _disposed = true;
        await _freer.DisposeAsync();
        await _log.DisposeAsync();
        _files.Dispose();
    }

    void ILogObserver.OnCommitted(long from, long until, TimeSpan took)
    {
        _waits.Release(until);
        Observer?.OnDurable(until);
    }

    void ILogObserver.OnFailed(StoreFailedException error)
    {
        _state = StoreState.Failed;
        _waits.Fail(error);
        Observer?.OnFailed(error);
        _fault.TrySetResult(error);
    }

    private Status TryAdd(RegionRecord record, bool isCopy, out long lsn)
    {
        lsn = 0;
        var head = record.Head;
        if (!IsWhole(record, out var checkedContent)) return Status.BadRequest;
        var name = new RecordName(head.Generation, head.Index);
        lock (_gate)
        {
            if (State != StoreState.Serving) return Status.Failed;
            var found = _regions.GetValueOrDefault(head.Region);
            if (found?.Find(name) is { } before)
            {
                lsn = before.Lsn;
                var isSame = before.Chain == head.Chain;
                if (!isSame && !isCopy) return Status.Conflict;
                if (isSame && before.IsIntact) return Status.Ok;
            }
            else if (!isCopy && head.Generation < found?.Sealed && !Planted.Is("sealed-store-takes-records"))
            {
                return Status.Sealed;
            }

            var body = BodyOf(record);
            var hasData = checkedContent < record.Content.Length;
            var status = Admit(body.Length, hasData ? StoreUse.Writes : StoreUse.Discards);
            if (status != Status.Ok) return status;
            var address = Add(new FramedRecord((byte)head.Kind, head.Index, head.Generation.Value, body,
                body.Length - record.Content.Length + checkedContent));
            var entry = new LogEntry(name, head.Chain, address, body.Length, IsIntact: true);
            Hold(head.Region).Put(entry);
            lsn = entry.Lsn;
            return Status.Ok;
        }
    }

    private static bool IsWhole(RegionRecord record, out int checkedContent)
    {
        checkedContent = 0;
        try
        {
            return RegionRecord.DigestOf(record.Head.Kind, record.Content, out checkedContent) == record.Head.Digest;
        }
        catch (MalformedDataException)
        {
            return false;
        }
    }

    private Status TrySay<TState, TFact>(RegionKey region, StoreRecordKind kind, long number, Epoch epoch,
        BodyWriter<TState> write, TState state, Action<RegionLogIndex, TFact, long> apply, TFact fact, out long lsn)
    {
        lsn = 0;
        lock (_gate)
        {
            if (State != StoreState.Serving) return Status.Failed;
            var body = BodyOf(region, write, state);
            var status = Admit(body.Length, StoreUse.Vital);
            if (status != Status.Ok) return status;
            var address = Add(new FramedRecord((byte)kind, number, epoch.Value, body, body.Length));
            var index = Hold(region);
            index.Said(address, isAll: false);
            lsn = IRecordLog.Align(address + RecordFraming.HeaderSize + body.Length);
            apply(index, fact, lsn);
            return Status.Ok;
        }
    }

    private ReadOnlyMemory<byte> BodyOf<TState>(RegionKey region, BodyWriter<TState> write, TState state)
    {
        _body.ResetWrittenCount();
        var w = new WireWriter(_body);
        w.Region(region);
        write(ref w, state);
        w.Flush();
        return _body.WrittenMemory;
    }

    private ReadOnlyMemory<byte> BodyOf(RegionRecord record)
    {
        _body.ResetWrittenCount();
        var w = new WireWriter(_body);
        record.Write(ref w);
        w.Flush();
        return _body.WrittenMemory;
    }

    private Status Admit(int body, StoreUse use)
    {
        var kept = use switch
        {
            StoreUse.Writes => _options.Reserve,
            StoreUse.Discards => _options.Reserve / 4 * 3,
            StoreUse.Copies => _options.Reserve / 2,
            _ => 0,
        };
        return _log.Admit(RecordFraming.HeaderSize + body, 0, kept) switch
        {
            Admission.Granted => Status.Ok,
            Admission.TooLarge => Status.TooLarge,
            Admission.NoSpace => Status.NoSpace,
            _ => Status.Overloaded,
        };
    }

    private RegionLogIndex Hold(RegionKey region)
    {
        if (_regions.TryGetValue(region, out var found)) return found;
        found = new RegionLogIndex(region);
        _regions[region] = found;
        return found;
    }

    private long Add(in FramedRecord record)
    {
        // A reader takes a header with a negative number for damage, and the log with it.
        ArgumentOutOfRangeException.ThrowIfNegative(record.Number);
        ArgumentOutOfRangeException.ThrowIfNegative(record.Epoch);
        var address = _log.Append(RecordFraming.Size(record), (Log: this, Record: record),
            static (s, address, target) => RecordFraming.Encode(s.Record, address, s.Log._lastRecord,
                s.Log.DurableUntil, s.Log._incarnation, s.Log._logId, target));
        Note(address);
        _lastRecord = address;
        return address;
    }

    private void Note(long address)
    {
        var index = (int)(address / _options.SegmentSize);
        if (_newest?.Index == index) return;
        _newest = new LogSegment(index, address);
        _segments.Enqueue(_newest);
        if (_segments.Count > 1) _freer.Kick();
    }

    private delegate void BodyWriter<in TState>(ref WireWriter w, TState state);
}

/// <summary>Uses of the reserve on a disk that is nearly full, in the order in which they are refused.</summary>
internal enum StoreUse
{
    Writes,

    /// <summary>Records without data: blocks that become empty, and what follows to free their space.</summary>
    Discards,

    /// <summary>Needed records of a file that is about to go.</summary>
    Copies,

    /// <summary>Seals, marks and all that frees space.</summary>
    Vital,
}

/// <summary>A file of the log.</summary>
/// <param name="First">Address of its first record.</param>
internal sealed record LogSegment(int Index, long First);
