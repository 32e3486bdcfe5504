namespace Corfu;

/// <summary>Finds a stream's positions from its newest backwards (Tango 5): a step reads the oldest position known and
/// goes on from its backpointers. A pure state machine: the cursor reads what all its walks need together.</summary>
internal sealed class StreamWalk
{
    // Average distance between a stream's entries up to which a window is read instead of single entries.
    private const int DenseDistance = 8;

    // First batch of the backward scan that gets past bare junk (Tango 5); it doubles up to the second.
    private const int ScanBatch = 64;
    private const int MaxScanBatch = 1024;

    private readonly StreamId _stream;
    private readonly LogPosition _bound;
    private readonly StreamCursorOptions _options;

    // The newest positions not yet stepped over, newest first. A step needs any one of them that has the stream's
    // header, the oldest if possible; what is known of each is in _seen.
    private ImmutableArray<LogPosition> _frontier;
    private readonly Seen[] _seen = new Seen[StreamHeader.MaxBackpointers];

    // The lowest position found so far, or the walk's beginning.
    private LogPosition _lowest;
    private LogPosition _scanBelow;
    private int _scanBatch;
    private bool _closing;

    /// <param name="until">Exclusive. The frontier may lie above, where a check was made in parts.</param>
    public StreamWalk(StreamId stream, ImmutableArray<LogPosition> frontier, LogPosition bound, LogPosition until,
        StreamCursorOptions options)
    {
        _stream = stream;
        _lowest = until;
        _bound = bound;
        _options = options;
        StartFrom(frontier);
    }

    private enum Seen : byte
    {
        No,
        Unwritten,
        WithoutHeader,
    }

    /// <summary>A run of positions, newest first, and the frontier from which it can be walked again; only the last
    /// chunk keeps its positions.</summary>
    public sealed record Chunk(ImmutableArray<LogPosition> Frontier, List<LogPosition> Positions);

    /// <summary>Highest first.</summary>
    public List<Chunk> Chunks { get; } = [];

    public bool IsDone { get; private set; }

    public bool IsScanning { get; private set; }

    /// <summary>Adds what must be read next: without effect on holes, or with holes closed.</summary>
    public void Need(List<LogPosition> observe, List<LogPosition> close)
    {
        if (IsScanning)
        {
            // A hole in the scanned range might be the stream's own, so it has to be decided before it is passed.
            for (var i = 1; i <= _scanBatch && _scanBelow - _bound >= i; i++)
                close.Add(new LogPosition(_scanBelow.Offset - i));
            return;
        }

        var oldest = _frontier[^1];
        if (
            _seen[_frontier.Length - 1] == Seen.No
            && _frontier[0] - oldest <= (long)DenseDistance * (_frontier.Length - 1))
        {
            for (var i = 0; i < _options.WalkWindow && oldest - _bound >= i; i++)
                observe.Add(new LogPosition(oldest.Offset - i));
            return;
        }

        for (var i = _frontier.Length - 1; i >= 0; i--)
        {
            if (_seen[i] == Seen.No)
            {
                observe.Add(_frontier[i]);
                return;
            }
        }

        _closing = true;
        for (var i = 0; i < _frontier.Length; i++)
        {
            if (_seen[i] == Seen.Unwritten) close.Add(_frontier[i]);
        }
    }

    /// <summary>Goes as far as the pages allow.</summary>
    public void Advance(Dictionary<LogPosition, LogReadResult> pages)
    {
        while (!IsDone && (IsScanning ? Scan(pages) : Step(pages)))
        {
        }
    }

    private bool Step(Dictionary<LogPosition, LogReadResult> pages)
    {
        var undecided = false;
        for (var i = _frontier.Length - 1; i >= 0; i--)
        {
            if (pages.TryGetValue(_frontier[i], out var page))
            {
                if (page.Entry is { } entry && entry.TryGetStream(_stream, out var header))
                {
                    StartFrom(header.Backpointers);
                    return true;
                }

                // Unwritten even after closing means that the grant died with its epoch: bare junk to a walk.
                _seen[i] = page.State == PageState.Unwritten && !_closing ? Seen.Unwritten : Seen.WithoutHeader;
            }

            if (_seen[i] == Seen.No) return false;
            undecided |= _seen[i] == Seen.Unwritten;
        }

        if (undecided) return false;
        if (Planted.Is("junk-ends-the-walk"))
        {
            IsDone = true;
            return false;
        }

        IsScanning = true;
        _scanBelow = _frontier[^1];
        _scanBatch = ScanBatch;
        if (_scanBelow <= _bound) IsDone = true;
        return false;
    }

    // R8: junk need not carry headers. When all K backpointers are bare junk, every entry below is read (Tango 5).
    private bool Scan(Dictionary<LogPosition, LogReadResult> pages)
    {
        var allTrimmed = true;
        var top = new LogPosition(_scanBelow.Offset - 1);
        for (var i = 0; i < _scanBatch && _scanBelow > _bound; i++)
        {
            var position = new LogPosition(_scanBelow.Offset - 1);
            if (!pages.TryGetValue(position, out var page)) return false;
            _scanBelow = position;
            if (page.Entry is { } entry && entry.TryGetStream(_stream, out var header))
            {
                if (position < _lowest)
                    Add(position, [position, .. header.Backpointers.Take(StreamHeader.MaxBackpointers - 1)]);
                StartFrom(header.Backpointers);
                return true;
            }

            allTrimmed &= page.State == PageState.Trimmed && page.Entry is null;
        }

        // Below the trim mark, the stream's entries are gone; playing this position reports it (R22).
        if (allTrimmed && _scanBelow > _bound) Add(top, [top]);
        IsDone = allTrimmed || _scanBelow <= _bound;
        _scanBatch = Math.Min(_scanBatch * 2, MaxScanBatch);
        return false;
    }

    private void StartFrom(ImmutableArray<LogPosition> frontier)
    {
        IsScanning = _closing = false;
        Array.Clear(_seen);
        _frontier = frontier;
        foreach (var position in frontier)
        {
            if (position >= _bound && position < _lowest) Add(position, frontier);
        }

        // Fewer than K backpointers: the stream has no older entries.
        IsDone = frontier.Length < StreamHeader.MaxBackpointers || frontier[^1] < _bound;
    }

    // A chunk starts only at a full frontier, where a walk can continue.
    private void Add(LogPosition position, ImmutableArray<LogPosition> frontier)
    {
        if (Chunks.Count == 0 || (Chunks[^1].Positions.Count >= _options.MaxPositions && frontier[0] == position))
        {
            if (Chunks.Count > 0) Chunks[^1] = Chunks[^1] with { Positions = [] };
            Chunks.Add(new Chunk(frontier, []));
        }

        Chunks[^1].Positions.Add(position);
        _lowest = position;
    }
}
