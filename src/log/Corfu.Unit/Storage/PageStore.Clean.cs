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

    public Action? CleaningDue { get; set; }

    public int LargestBody => _options.LogPageSize / 4;

    public int SegmentSize => _options.SegmentSize;

    public bool IsFull => _log.Space.IsFull;

    public int SegmentOf(long address) => (int)(address / _options.SegmentSize);

    public void Dead(long address, int bytes, bool wholePage)
    {
        bool due;
        lock (_gate) due = _catalog.Dead(address, bytes, wholePage);
        if (due) CleaningDue?.Invoke();
    }

    public void Release(LogPosition below) => CleaningDue?.Invoke();

    public IReadOnlyList<int> WhollyTrimmed(LogPosition mark)
    {
        lock (_gate) return [.. _catalog.WhollyBelow(mark).Select(s => s.Index)];
    }

    public int Sparsest(LogPosition mark)
    {
        lock (_gate) return _catalog.Sparsest(mark)?.Index ?? -1;
    }

    public void SetAside(int segment)
    {
        lock (_gate)
        {
            if (_catalog.Find(segment) is { } contents) contents.SetAside = true;
        }
    }

    public async ValueTask<bool> ReadSegmentAsync(int segment, Func<LogRecord, RecordPlace, ValueTask<bool>> visit)
    {
        SegmentContents? contents;
        lock (_gate) contents = _catalog.Find(segment);
        if (contents is null) return false;
        var reader = new SegmentReader(new SegmentImage(_files, _options.SegmentSize), _logId, new UnitScanRules());
        return await reader.ReadAsync(contents.Before, contents.First, contents.Last,
            (record, place) => visit(UnitScanRules.Record(record), UnitScanRules.Place(place)));
    }

    public void AboutToFree(IReadOnlySet<int> segments)
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

    public bool TryAppendFreed()
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

    public void Delete(IReadOnlySet<int> segments)
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
