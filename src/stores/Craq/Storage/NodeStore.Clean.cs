namespace Craq.Storage;

/// <summary>The outcome for a record whose segment is to be deleted.</summary>
internal enum KeepOutcome
{
    /// <summary>Nothing needs it any more.</summary>
    Dead,

    /// <summary>Written again at the end of the log; counts there once that is durable.</summary>
    Copied,

    /// <summary>No memory or space at the moment.</summary>
    Busy,

    /// <summary>The index has to read its disk first.</summary>
    Waits,
}

/// <summary>A copy that does not count before it is durable: readers need the old one until then.</summary>
/// <param name="IsNeeded">The whole record was copied, because it is dirty.</param>
/// <param name="Writes">The writes of the record that the copy has, in its order.</param>
internal sealed record PendingCopy(StoreRecord Record, ObjectKey[] Keys, int[] Writes, StorePlace Place, bool IsNeeded)
{
    public bool IsWhole(in StoreRecord record) => IsNeeded && Record.Place == record.Place;
}

// The cleaner's steps. Each is short and made under the node's lock.
internal sealed partial class NodeStore
{
    // Log that may be cleaned for each byte that is appended, and for each that dies. With as much dead as live, two
    // bytes of log hold one that has to be copied; so the cleaner writes at most as much as its users.
    private const int BytesPerAppended = 3;
    private const int BytesPerDead = 2;

    private readonly Queue<NodeSegment> _segments = new();
    private NodeSegment? _newest;

    // Copies that have lost against records before them: each gets a Remove record, which is durable before the next
    // segment goes and before a checkpoint begins to count.
    private readonly List<(ChainId Chain, ObjectKey Key, ObjectVersion Version)> _owed = [];
    private readonly List<(long Lsn, TaskCompletionSource Done)> _waiters = [];
    private StoreFailedException? _failure;
    private long _liveBytes;
    private long _objects;
    private long _budget;

    public bool IsFull => _log.Space.IsFull;

    /// <summary>Objects of all chains, and the log's bytes, for people.</summary>
    public (long Objects, long Live, long Log) Size =>
        (_chains.Values.Sum(c => c.Objects), Volatile.Read(ref _liveBytes), LogBytes);

    private long LogBytes =>
        _log.AppendedUntil - (_segments.TryPeek(out var oldest) ? oldest.Index * (long)_options.SegmentSize : 0);

    private bool IsCleaningDue
    {
        get
        {
            if (_segments.Count < 2 || _budget < _options.SegmentSize) return false;
            var wanted = IsFull
                ? _liveBytes + _liveBytes / 4 + 2L * _options.SegmentSize
                : 2 * _liveBytes + _options.SpareSegments * (long)_options.SegmentSize;
            return LogBytes > wanted;
        }
    }

    public async ValueTask AttachAsync(INodeChains? chains)
    {
        if (_cleaner is { } before)
        {
            _cleaner = null;
            await before.DisposeAsync();
        }

        if (chains is null) return;
        _cleaner = new ObjectCleaner(this, chains, _workers, _log.Fail);
        _cleaner.Start();
    }

    /// <summary>Completes when there is nothing to clean; for tests.</summary>
    public Task CleanAsync() => _cleaner?.RunAsync() ?? Task.CompletedTask;

    /// <summary>The segment to empty next, if that pays. Never the newest.</summary>
    public NodeSegment? NextToEmpty()
    {
        if (!IsCleaningDue) return null;
        _budget -= _options.SegmentSize;
        return _segments.Peek();
    }

    public async ValueTask<bool> ReadSegmentAsync(NodeSegment segment, Func<StoreRecord, ValueTask<bool>> visit)
    {
        var reader = new SegmentReader(new SegmentImage(_files, _options.SegmentSize), _logId, NodeScanRules.Instance);
        return await reader.ReadAsync(segment.Before, segment.First, segment.Last, (record, place) =>
            place.Damage is null ? visit(NodeScanRules.Record(record, place)) : ValueTask.FromResult(false));
    }

    public KeepOutcome Keep(in StoreRecord record, ChainRecord? decoded, INodeChains chains, List<PendingCopy> copies,
        out ObjectHash waitsFor)
    {
        waitsFor = default;
        // The facts of other kinds are in the chain's state, which is written again with its first record.
        if (decoded is null || !_chains.TryGetValue(record.Chain, out var held)) return KeepOutcome.Dead;
        var isNeeded = record.Kind == StoreRecordKind.Chain && chains.Needs(record.Chain, record.Version);
        var writes = new List<int>();
        for (var i = 0; i < decoded.Writes.Length; i++)
        {
            var hash = ObjectHash.Of(record.Chain, decoded.Writes[i].Key);
            if (!isNeeded && !_index.TryFind(hash, out _))
            {
                waitsFor = hash;
                return KeepOutcome.Waits;
            }

            if (isNeeded || IsAt(record, hash, i, held)) writes.Add(i);
        }

        if (!isNeeded && (writes.Count == 0 || Planted.Is("cleaner-drops-live-version"))) return KeepOutcome.Dead;
        // A clean copy counts in a recovery as soon as it is read: the mark that made it clean comes before.
        if (!isNeeded && !chains.TryLogMark(record.Chain)) return KeepOutcome.Busy;
        int[] kept = [.. writes];
        var body = isNeeded ? record.Body : RecordParts.Extract(record.Body, kept);
        if (Admit(body.Length, _options.Reserve / 4) != Status.Ok) return KeepOutcome.Busy;
        var place = Add(StoreRecordKind.Moved, isNeeded ? StoreRecordKind.Chain : StoreRecordKind.Copy, record.Chain,
            record.Version, body.Span);
        copies.Add(new PendingCopy(record with { Body = default },
            [.. kept.Select(i => decoded.Writes[i].Key.ToOwned())], kept, place, isNeeded));
        return KeepOutcome.Copied;
    }

    /// <summary>The copies are durable: they count from now on, where the originals still did.</summary>
    public void Apply(List<PendingCopy> copies, INodeChains chains)
    {
        foreach (var copy in copies)
        {
            var record = copy.Record;
            if (copy.IsNeeded && chains.Needs(record.Chain, record.Version))
            {
                chains.Moved(record.Chain, record.Version, copy.Place);
                continue;
            }

            if (!_chains.TryGetValue(record.Chain, out var held)) continue;
            for (var i = 0; i < copy.Writes.Length; i++)
            {
                var hash = ObjectHash.Of(record.Chain, copy.Keys[i]);
                if (IsAt(record, hash, copy.Writes[i], held))
                    _index.Set(hash, _index.Find(hash).At(copy.Place, copy.IsNeeded ? copy.Writes[i] : i));
                else _owed.Add((record.Chain, copy.Keys[i], record.Version));
            }
        }

        copies.Clear();
    }

    /// <summary>False if there is no room at the moment.</summary>
    public bool TryAppendOwed(INodeChains chains)
    {
        var done = 0;
        foreach (var (chain, key, version) in _owed)
        {
            // The winner is clean by this mark. Without the mark a recovery drops the copy, and holds the winner dirty.
            if (!chains.TryLogMark(chain)) break;
            if (Admit(key.Bytes.Length, _options.Reserve / 4) != Status.Ok) break;
            if (_chains.ContainsKey(chain))
                Add(StoreRecordKind.Remove, StoreRecordKind.None, chain, version, key.Bytes.Span);
            done++;
        }

        _owed.RemoveRange(0, done);
        return _owed.Count == 0;
    }

    /// <summary>The chains whose states begin in the segment.</summary>
    public List<ChainId> StatesIn(NodeSegment segment) =>
        [.. _chains.Where(c => c.Value.StateAddress <= segment.Last).Select(c => c.Key)];

    /// <summary>Writes the chain's mark, and its state if the segment has that or a record that it does not cover.
    /// False if there is no room at the moment.</summary>
    /// <param name="newest">The newest record of the chain in the segment that is not copied as a whole.</param>
    public bool TryCarryState(ChainId chain, ObjectVersion newest, NodeSegment segment, INodeChains chains)
    {
        if (!_chains.TryGetValue(chain, out var held)) return true;
        // Records dead in the segment are so by this mark, and must be for a recovery too.
        if (!chains.TryLogMark(chain)) return false;
        if (held.StateAddress > segment.Last && held.StateMark >= newest) return true;
        if (chains.Snapshot(chain) is not { } snapshot)
        {
            // Records that came to nothing: the chain was never installed.
            Forget(chain);
            return true;
        }

        if (Admit(snapshot.State.Length, _options.Reserve / 4) != Status.Ok) return false;
        Add(StoreRecordKind.ChainState, StoreRecordKind.None, chain, snapshot.Mark, snapshot.State.Span);
        return true;
    }

    /// <summary>Says where the log begins once the segment is gone. False if there is no room at the
    /// moment.</summary>
    public bool TryAppendFreed(NodeSegment going)
    {
        if (Admit(0, _options.Reserve / 4) != Status.Ok) return false;
        var first = _segments.First(s => s != going).First;
        Add(StoreRecordKind.Freed, StoreRecordKind.None, default, new ObjectVersion(first), default);
        _firstKept = first;
        return true;
    }

    /// <summary>Forgets the oldest segment.</summary>
    /// <returns>The oldest that stays, for <see cref="DeleteBefore"/>.</returns>
    public NodeSegment DropOldest()
    {
        _segments.Dequeue();
        var oldest = _segments.Peek();
        // Readers check this first: what is deleted stands elsewhere, or counts no more, and is not damaged.
        _log.SetBegin(oldest.Index * (long)_options.SegmentSize);
        return oldest;
    }

    /// <summary>Deletes the files before the oldest segment, and the index's entries of their records. Outside the
    /// lock: files are deleted here.</summary>
    public void DeleteBefore(NodeSegment oldest)
    {
        _index.Forget(oldest.IndexAddress);
        foreach (var segment in _log.Space.Below(oldest.Index)) _log.Space.Delete(segment);
    }

    public ValueTask LoadAsync(ObjectHash hash) => _index.LoadAsync(hash);

    /// <summary>Completes when all that was appended before the call is durable.</summary>
    public async ValueTask<long> WaitDurableAsync()
    {
        var lsn = _log.AppendedUntil;
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (_waiters)
        {
            if (_failure is not null) throw _failure;
            if (_log.DurableUntil >= lsn) return lsn;
            _waiters.Add((lsn, done));
        }

        Commit();
        await done.Task;
        return lsn;
    }

    private void ReleaseWaiters(long until, StoreFailedException? error)
    {
        lock (_waiters)
        {
            _failure ??= error;
            for (var i = _waiters.Count - 1; i >= 0; i--)
            {
                if (_waiters[i].Lsn > until) continue;
                if (error is null) _waiters[i].Done.TrySetResult();
                else _waiters[i].Done.TrySetException(error);
                _waiters.RemoveAt(i);
            }
        }
    }

    private bool IsAt(in StoreRecord record, ObjectHash hash, int write, HeldChain held)
    {
        var entry = _index.Find(hash);
        return IsLive(entry, held) && entry.Address == record.Place.Address && entry.Write == write;
    }

    private void Note(long address, long previous, ChainId chain, StoreRecordKind kind, ObjectVersion version)
    {
        var index = (int)(address / _options.SegmentSize);
        if (_newest is null || _newest.Index != index)
        {
            _newest = new NodeSegment(index, address, previous, _index.Tail);
            _segments.Enqueue(_newest);
            if (IsCleaningDue) _cleaner?.Kick();
        }

        _newest.Last = address;
        _records++;
        if (chain.IsNone || kind == StoreRecordKind.Forget) return;
        var held = Hold(chain);
        if (kind == StoreRecordKind.ChainState) (held.StateAddress, held.StateMark) = (address, version);
        else if (held.StateAddress == long.MaxValue) held.StateAddress = address;
    }

    private void Dead(long bytes)
    {
        _liveBytes -= bytes;
        _budget += BytesPerDead * bytes;
        if (IsCleaningDue) _cleaner?.Kick();
    }
}
