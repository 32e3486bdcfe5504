namespace Corfu.Unit;

// Whole segments are deleted by the cleaner. Calls that change the store's state are made under the handler's lock.
internal sealed partial class PageStore
{
    // Deleted parts in the middle of the log, or about to be deleted. Under _gate.
    private readonly LogGaps _gaps = new();

    // Replaced, never changed: readers take no lock.
    private HashSet<int> _gone = [];

    // The log's beginning according to the next state record; _firstKept <= the first record that stays.
    private long _firstKept;
    private bool _stateDue;

    /// <summary>Called, from any thread, when there may be something to clean.</summary>
    internal Action? CleaningDue { get; set; }

    internal int LargestBody => _options.LogPageSize / 4;

    internal int SegmentSize => _options.SegmentSize;

    internal bool IsFull => _log.Space.IsFull;

    public int SegmentOf(long address) => (int)(address / _options.SegmentSize);

    public bool OpensSegment(int bodyLength) =>
        _stateDue || SegmentOf(_log.NextAddress(RecordCodec.HeaderSize + bodyLength)) != SegmentOf(_lastRecord);

    public void Dead(long address, int bytes, bool wholePage)
    {
        bool due;
        lock (_gate) due = _catalog.Dead(address, bytes, wholePage);
        if (due) CleaningDue?.Invoke();
    }

    public void Release(LogPosition below) => CleaningDue?.Invoke();

    /// <summary>Segments whose positions are all below the mark.</summary>
    internal IReadOnlyList<int> WhollyTrimmed(LogPosition mark)
    {
        lock (_gate) return [.. _catalog.WhollyBelow(mark).Select(s => s.Index)];
    }

    /// <summary>The segment that it pays most to empty, or -1.</summary>
    internal int Sparsest(LogPosition mark)
    {
        lock (_gate) return _catalog.Sparsest(mark)?.Index ?? -1;
    }

    /// <summary>Not again before something in it changes.</summary>
    internal void SetAside(int segment)
    {
        lock (_gate)
        {
            if (_catalog.Find(segment) is { } contents) contents.SetAside = true;
        }
    }

    /// <summary>Reads the records of a segment, in order, without any lock. False if it is damaged or the visitor has
    /// stopped.</summary>
    internal async ValueTask<bool> ReadSegmentAsync(int segment, Func<LogRecord, RecordPlace, ValueTask<bool>> visit)
    {
        SegmentContents? contents;
        lock (_gate) contents = _catalog.Find(segment);
        if (contents is null) return false;
        var reader = new SegmentReader(new SegmentImage(_files, _options.SegmentSize), _logId);
        return await reader.ReadAsync(contents, visit);
    }

    /// <summary>From here on, state and freed records say that these segments are missing on purpose.</summary>
    internal void AboutToFree(IReadOnlySet<int> segments)
    {
        lock (_gate)
        {
            _firstKept = _catalog.OldestWithout(segments).First;
            foreach (var segment in segments)
            {
                if (_catalog.Find(segment) is { } contents && contents.First > _firstKept)
                    _gaps.Add(contents.Before, contents.Last);
            }

            _gaps.ForgetBelow(_firstKept);
        }
    }

    /// <summary>Appends the list of deleted parts. False if there is no room at the moment.</summary>
    internal bool TryAppendFreed()
    {
        LogRecord record;
        lock (_gate)
        {
            if (_gaps.Count == 0) return true;
            record = _gaps.ToRecord();
        }

        if (Admit(record.Body.Length, SpaceUse.Vital) != Status.Ok) return false;
        Append(record);
        return true;
    }

    /// <summary>Deletes the segments; without the lock, once the list of deleted parts is durable.</summary>
    internal void Delete(IReadOnlySet<int> segments)
    {
        var files = new SortedSet<int>(segments);
        long begin;
        long map;
        lock (_gate)
        {
            foreach (var segment in segments) _catalog.Forget(segment);
            var oldest = _catalog.Oldest!;
            begin = oldest.Index * (long)_options.SegmentSize;
            map = oldest.MapAddress;
            files.UnionWith(_log.Space.Below(oldest.Index));
        }

        // Readers check these first: what is deleted is trimmed or stands elsewhere, it is not damaged.
        Volatile.Write(ref _gone, [.. _gone.Where(s => s >= begin / _options.SegmentSize), .. segments]);
        Volatile.Write(ref _begin, begin);
        foreach (var segment in files) _log.Space.Delete(segment);
        _map.Forget(map);
    }

    private bool IsGone(long address) =>
        address < Volatile.Read(ref _begin) || Volatile.Read(ref _gone).Contains(SegmentOf(address));
}
