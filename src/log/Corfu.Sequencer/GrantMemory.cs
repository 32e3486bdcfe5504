namespace Corfu.Sequencer;

/// <summary>The headers of recent token runs, in two rings without an object per grant: an index by first position, and
/// the words it points to. For fillers only (R8): what has been overwritten is not remembered.</summary>
internal sealed class GrantMemory(int grants, int words)
{
    private struct Run
    {
        public long First;
        public int Count;
        public int Streams;

        /// <summary>The first of the run's words, counted from the beginning of the epoch.</summary>
        public long Offset;
    }

    // Runs are added in ascending order of First; the last _runs.Length of them are there.
    private readonly Run[] _runs = new Run[grants];
    private readonly long[] _words = new long[words];
    private long _added;
    private long _written;

    public void Clear()
    {
        _added = 0;
        _written = 0;
    }

    /// <summary>Runs without streams are not kept: junk for them has no headers.</summary>
    public void Add(long first, int count, ImmutableArray<StreamTail> previous)
    {
        if (previous.IsEmpty || (long)previous.Length * (2 + StreamHeader.MaxBackpointers) > _words.Length) return;
        _runs[_added++ % _runs.Length] = new Run
        {
            First = first,
            Count = count,
            Streams = previous.Length,
            Offset = _written
        };
        foreach (var tail in previous)
        {
            Put((long)tail.Stream.Value);
            Put(tail.Positions.Length);
            foreach (var position in tail.Positions) Put(position.Offset);
        }
    }

    /// <summary>The headers of one position, the run's own earlier positions included; null when not
    /// remembered.</summary>
    public Grant? Find(LogPosition position, long start, Epoch epoch)
    {
        var low = Math.Max(0, _added - _runs.Length);
        var high = _added - 1;
        while (low < high)
        {
            var middle = (low + high + 1) / 2;
            if (_runs[middle % _runs.Length].First <= position.Offset) low = middle;
            else high = middle - 1;
        }

        if (low > high) return null;
        ref readonly var run = ref _runs[low % _runs.Length];
        var index = position.Offset - run.First;
        if (index < 0 || index >= run.Count || _written - run.Offset > _words.Length) return null;
        var at = run.Offset;
        var previous = ImmutableArray.CreateBuilder<StreamTail>(run.Streams);
        for (var i = 0; i < run.Streams; i++) previous.Add(ReadTail(ref at, run.First, (int)index, start, epoch));
        return new Grant(new LogPosition(position.Offset, epoch), previous.DrainToImmutable());
    }

    private StreamTail ReadTail(ref long at, long first, int index, long start, Epoch epoch)
    {
        var stream = new StreamId((ulong)Get(at++));
        var stored = (int)Get(at++);
        var own = Math.Min(index, StreamHeader.MaxBackpointers);
        var positions = ImmutableArray.CreateBuilder<LogPosition>(Math.Min(own + stored, StreamHeader.MaxBackpointers));
        for (var i = 1; i <= own; i++) positions.Add(new LogPosition(first + index - i, epoch));
        for (var i = 0; positions.Count < positions.Capacity; i++)
        {
            var position = Get(at + i);
            positions.Add(new LogPosition(position, position >= start ? epoch : Epoch.None));
        }

        at += stored;
        return new StreamTail(stream, positions.DrainToImmutable());
    }

    private void Put(long word) => _words[_written++ % _words.Length] = word;

    private long Get(long at) => _words[at % _words.Length];
}

/// <summary>The graces in force (R10). Without a clock: a grace lasts until a number of further positions are granted,
/// by when its writer has written or is gone.</summary>
internal sealed class GraceWindow(ushort longest, int span)
{
    /// <summary>Ends ascend and graces strictly descend, so the first one in force is the longest.</summary>
    private readonly LinkedList<(ushort Grace, long Until)> _graces = new();

    public void Clear() => _graces.Clear();

    public void Ask(ushort grace, long next)
    {
        if (grace == 0) return;
        grace = Math.Min(grace, longest);
        while (_graces.Last is { } last && last.Value.Grace <= grace) _graces.RemoveLast();
        _graces.AddLast((grace, next + span));
    }

    public ushort Longest(long next)
    {
        while (_graces.First is { } first && first.Value.Until <= next) _graces.RemoveFirst();
        return _graces.First?.Value.Grace ?? 0;
    }
}
