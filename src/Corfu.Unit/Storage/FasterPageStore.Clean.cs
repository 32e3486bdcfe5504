using Corfu.Protocol;

namespace Corfu.Unit;

public sealed partial class FasterPageStore : ICleanableStore
{
    // Parts in the middle of the log that are gone, or about to go. Under _gate.
    private readonly LogGaps _gaps = new();

    // Replaced, never changed: readers look at it without a lock.
    private HashSet<int> _gone = [];

    // Where the log begins according to the next state record. Never above the first record that stays.
    private long _firstKept;
    private bool _stateDue;

    Action? ICleanableStore.CleaningDue { get; set; }

    int ICleanableStore.LargestBody => _options.LogPageSize / 4;

    int ICleanableStore.SegmentSize => _options.SegmentSize;

    bool ICleanableStore.IsFull => _space.IsFull;

    public int SegmentOf(long address) => (int)(address / _options.SegmentSize);

    // Like Append and Admit under the handler's lock, so nothing changes meanwhile.
    public bool OpensSegment(int bodyLength) =>
        _stateDue || SegmentOf(PlaceOf(FrameSize(bodyLength), _log.TailAddress)) != SegmentOf(_lastRecord);

    public void Dead(long address, int bytes, bool wholePage)
    {
        bool due;
        lock (_gate) due = _catalog.Dead(address, bytes, wholePage);
        if (due) ((ICleanableStore)this).CleaningDue?.Invoke();
    }

    public void Release(LogPosition below) => ((ICleanableStore)this).CleaningDue?.Invoke();

    IReadOnlyList<int> ICleanableStore.WhollyTrimmed(LogPosition mark)
    {
        lock (_gate) return [.. _catalog.WhollyBelow(mark).Select(s => s.Index)];
    }

    int ICleanableStore.Sparsest(LogPosition mark)
    {
        lock (_gate) return _catalog.Sparsest(mark)?.Index ?? -1;
    }

    void ICleanableStore.SetAside(int segment)
    {
        lock (_gate)
        {
            if (_catalog.Find(segment) is { } contents) contents.SetAside = true;
        }
    }

    bool ICleanableStore.ReadSegment(int segment, Func<LogRecord, RecordPlace, bool> visit)
    {
        SegmentContents? contents;
        lock (_gate) contents = _catalog.Find(segment);
        if (contents is null) return false;
        var reader = new SegmentReader(new SegmentImage(_files, _options.SegmentSize), _logId);
        return reader.Read(contents, visit);
    }

    void ICleanableStore.AboutToFree(IReadOnlySet<int> segments)
    {
        lock (_gate)
        {
            _firstKept = _catalog.OldestWithout(segments).First;
            foreach (var segment in segments)
            {
                if (_catalog.Find(segment) is { } contents && contents.First > _firstKept) _gaps.Add(contents.Before, contents.Last);
            }

            _gaps.ForgetBelow(_firstKept);
        }
    }

    bool ICleanableStore.TryAppendFreed(out long lsn)
    {
        LogRecord? record;
        lock (_gate)
        {
            lsn = _lastEnd;
            record = _gaps.Count == 0 ? null : _gaps.ToRecord();
        }

        if (record is null) return true;
        if (Admit(record.Value.Body.Length, SpaceUse.Vital) != Status.Ok) return false;
        lsn = Append(record.Value).Lsn;
        return true;
    }

    void ICleanableStore.Delete(IReadOnlySet<int> segments)
    {
        var begin = 0L;
        var files = new SortedSet<int>(segments);
        long map;
        lock (_gate)
        {
            foreach (var segment in segments) _catalog.Forget(segment);
            var oldest = _catalog.Oldest!;
            begin = oldest.Index * (long)_options.SegmentSize;
            map = oldest.MapAddress;
            files.UnionWith(_space.Below(oldest.Index));
        }

        // Readers look at these first: what is about to go is trimmed or stands elsewhere, it is not damaged.
        Volatile.Write(ref _gone, [.. _gone.Where(s => s >= begin / _options.SegmentSize), .. segments]);
        Volatile.Write(ref _begin, begin);
        foreach (var segment in files) _space.Delete(segment);
        _map.Forget(map);
    }

    private bool IsGone(long address) => address < Volatile.Read(ref _begin) || Volatile.Read(ref _gone).Contains(SegmentOf(address));
}
