namespace Corfu;

/// <summary>A cursor's knowledge of one of its streams.</summary>
internal sealed class StreamState(StreamId stream, LogPosition from)
{
    // Not null: scans find the new positions. Then all up to there is in Ready, and there are no anchors.
    private ScannedUntil? _scanned;
    private LogPosition _knownUntil = from;
    private LogPosition _readyUntil = from;

    public StreamId Stream { get; } = stream;

    /// <summary>The walk under way or finished, until it is taken in.</summary>
    public StreamWalk? Walk { get; set; }

    /// <summary>Entries at or above are still to be delivered on this stream's account.</summary>
    public LogPosition Next { get; set; } = from;

    /// <summary>Positions in [<see cref="Next"/>, KnownUntil) are in <see cref="Ready"/> or below an anchor.</summary>
    public LogPosition KnownUntil
    {
        get => _scanned?.End ?? _knownUntil;
        private set => _knownUntil = value;
    }

    /// <summary>Ascending; complete from <see cref="Next"/> up to <see cref="ReadyUntil"/>.</summary>
    public List<LogPosition> Ready { get; } = [];

    public LogPosition ReadyUntil
    {
        get => _scanned?.End ?? _readyUntil;
        private set => _readyUntil = value;
    }

    /// <summary>Index into <see cref="Ready"/> of the first position not yet handed to a fetch.</summary>
    public int Fetched { get; set; }

    /// <summary>Positions from which walks can continue above <see cref="ReadyUntil"/>, highest first. Memory for more
    /// positions is lacking.</summary>
    public List<ImmutableArray<LogPosition>> Anchors { get; } = [];

    public bool IsScanned => _scanned is not null;

    /// <summary>The cursor has it among those that may have something to deliver.</summary>
    public bool IsActive { get; set; }

    public bool IsStarved => Fetched >= Ready.Count && Anchors.Count > 0;

    /// <summary>The stream is known as far as all that are scanned together, and from now on found with them.</summary>
    public void Share(ScannedUntil scanned) => _scanned = scanned;

    /// <summary>From now on it is walked again.</summary>
    public void Separate()
    {
        KnownUntil = ReadyUntil = LogPosition.Max(KnownUntil, Next);
        _scanned = null;
    }

    /// <summary>Rewinds fetching to <paramref name="position"/> and forgets what lies below it.</summary>
    public void Rewind(LogPosition position)
    {
        Ready.RemoveRange(0, FirstAtOrAbove(LogPosition.Max(position, Next)));
        Fetched = 0;
    }

    /// <summary>Forgets what was delivered.</summary>
    public void Compact(LogPosition position)
    {
        var delivered = Math.Min(FirstAtOrAbove(position), Fetched);
        Ready.RemoveRange(0, delivered);
        Fetched -= delivered;
    }

    /// <summary>Forgets positions from there on: a newer epoch may have granted them anew (R10).</summary>
    public void ForgetFrom(LogPosition position)
    {
        if (Anchors.Count > 0)
        {
            Anchors.Clear();
            KnownUntil = ReadyUntil;
        }

        if (!IsScanned && KnownUntil <= position) return;
        var keep = FirstAtOrAbove(position);
        Ready.RemoveRange(keep, Ready.Count - keep);
        Fetched = Math.Min(Fetched, Ready.Count);
        if (!IsScanned) KnownUntil = ReadyUntil = LogPosition.Max(position, Next);
    }

    /// <summary>Takes in a walk from the stream's newest positions down to <see cref="KnownUntil"/>.</summary>
    public void Extend(LogPosition knownUntil)
    {
        KnownUntil = knownUntil;
        if (Walk!.Chunks.Count == 0)
        {
            if (Anchors.Count == 0) ReadyUntil = knownUntil;
            return;
        }

        if (Anchors.Count > 0) Anchors.InsertRange(0, Walk.Chunks.Select(c => c.Frontier));
        else Adopt(Walk.Chunks, knownUntil);
    }

    /// <summary>Takes in a walk that continued from the lowest anchor.</summary>
    public void Resume()
    {
        Anchors.RemoveAt(Anchors.Count - 1);
        var chunks = Walk!.Chunks;
        if (chunks.Count > 0) Adopt(chunks, LogPosition.Min(KnownUntil, chunks[0].Frontier[0].Next));
        if (Anchors.Count == 0) ReadyUntil = KnownUntil;
    }

    private void Adopt(List<StreamWalk.Chunk> chunks, LogPosition until)
    {
        var lowest = chunks[^1];
        Anchors.AddRange(chunks.SkipLast(1).Select(c => c.Frontier));
        lowest.Positions.Reverse();
        Ready.AddRange(lowest.Positions);
        ReadyUntil = chunks.Count == 1 ? until : lowest.Frontier[0].Next;
    }

    private int FirstAtOrAbove(LogPosition position)
    {
        var index = Ready.BinarySearch(position);
        return index < 0 ? ~index : index;
    }
}

/// <summary>How far all streams of a cursor are known that learn by scans.</summary>
internal sealed class ScannedUntil
{
    public LogPosition End { get; set; }
}
