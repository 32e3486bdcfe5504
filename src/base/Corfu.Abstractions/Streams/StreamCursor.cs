namespace Corfu;

/// <summary>Plays several streams merged in log order, over any log (Tango 5): learns positions by backpointer walks,
/// fetches entries ahead of the player, holds a bounded part of a long backlog. Not safe for concurrent use.</summary>
public sealed partial class StreamCursor : IStreamCursor
{
    private readonly ICorfuLog _log;
    private readonly StreamCursorOptions _options;
    private readonly Dictionary<StreamId, StreamState> _byId = [];
    private readonly List<StreamState> _streams = [];

    private LogPosition _syncedTail;
    private bool _needsSync;

    // The epoch of the newest check. R10: positions learnt in an epoch that has ended count only below _settled.
    private Epoch _epoch;

    // The position after the highest one read in a final state that it reached in _epoch or earlier. Every later epoch
    // starts at or above it, so the streams' positions below it, and Position, never have to be taken back.
    private LogPosition _settled;

    public StreamCursor(ICorfuLog log) : this(log, new StreamCursorOptions())
    {
    }

    /// <summary>Plays one stream, from a position on.</summary>
    public StreamCursor(ICorfuLog log, StreamId stream, LogPosition from = default) : this(log) => Add(stream, from);

    internal StreamCursor(ICorfuLog log, StreamCursorOptions options)
    {
        _log = log;
        _options = options;
        _batchSize = Math.Min(32, _options.MaxBatch);
    }

    public LogPosition Position { get; private set; }

    public void Add(StreamId stream, LogPosition from)
    {
        Forget(stream);
        if (from < Position)
        {
            foreach (var other in _streams) other.Next = LogPosition.Max(other.Next, Position);
            Position = from;
        }

        var state = new StreamState(stream, from);
        _byId.Add(stream, state);
        _streams.Add(state);
        _apart.Add(state);
        _needsSync = true;
        Refetch();
    }

    public void Remove(StreamId stream)
    {
        Forget(stream);
        // Fetched positions of the stream may be trimmed, and must not be reported any more.
        Refetch();
    }

    public async ValueTask<LogPosition> SyncAsync(
        ReadConsistency consistency = ReadConsistency.Linearizable, CancellationToken cancellationToken = default)
    {
        Compact();
        var scans = _streams.Count - _apart.Count >= _options.ScanFrom;
        if (!scans) EndScans();
        var check = await CheckAsync(scans ? _apart : _streams, consistency, cancellationToken);
        if (check.Tail > _syncedTail) _kept.Clear();
        if (scans && !await TryScanAsync(check, cancellationToken))
        {
            EndScans();
            scans = false;
            check = await CheckAsync(_streams, consistency, cancellationToken);
        }

        await TakeInAsync(scans ? _apart : _streams, check, cancellationToken);
        return _syncedTail;
    }

    private async ValueTask TakeInAsync(
        List<StreamState> asked, LogCheck check, CancellationToken cancellationToken)
    {
        await LearnAsync(asked, check, cancellationToken);
        if (_streams.Count >= _options.ScanFrom) BeginScans(check.Tail);
        _syncedTail = check.Tail;
        _needsSync = false;
        RebuildHeads();
        StartFetches();
    }

    public async ValueTask<LogPosition> SyncAsync(AppendedEntry placed, CancellationToken cancellationToken = default)
    {
        var (entry, check) = placed;
        // Another epoch has begun, or a stream is played that the append did not name: a check knows.
        if (_streams.Count >= _options.ScanFrom || check.Tail.Epoch != _epoch || Ordered(check) is not { } tails
            || (check.Tail <= _syncedTail && _needsSync))
            return await SyncAsync(ReadConsistency.Session, cancellationToken);
        // Invariant: the synced tail does not fall within an epoch.
        if (check.Tail <= _syncedTail) return _syncedTail;
        Compact();
        EndScans();
        _kept.Clear();
        _kept[entry.Position] = new LogReadResult(entry.Position, PageState.Data, entry);
        await TakeInAsync(_streams, check with { Streams = tails }, cancellationToken);
        return _syncedTail;
    }

    /// <summary>The tails in the order of the streams; null where one is lacking.</summary>
    private ImmutableArray<StreamTail>? Ordered(LogCheck check)
    {
        var tails = ImmutableArray.CreateBuilder<StreamTail>(_streams.Count);
        foreach (var stream in _streams)
        {
            var found = false;
            foreach (var tail in check.Streams)
            {
                if (tail.Stream != stream.Stream) continue;
                tails.Add(tail);
                found = true;
                break;
            }

            if (!found) return null;
        }

        return tails.MoveToImmutable();
    }

    private void Forget(StreamId stream)
    {
        if (!_byId.Remove(stream, out var known)) return;
        _streams.Remove(known);
        if (!known.IsScanned) _apart.Remove(known);
        if (known.IsActive) _active.Remove(known);
    }

    private async ValueTask<LogCheck> CheckAsync(
        List<StreamState> asked, ReadConsistency consistency, CancellationToken cancellationToken)
    {
        var check = await _log.CheckAsync(
            [.. asked.Select(static stream => stream.Stream)], consistency, cancellationToken);
        if (Planted.Is("no-relearning")) _epoch = check.Tail.Epoch;
        if (check.Tail.Epoch == _epoch) return check;
        _epoch = check.Tail.Epoch;
        ForgetFrom(_settled);
        Refetch();
        return check;
    }

    /// <param name="asked">In the order of the check.</param>
    private async ValueTask LearnAsync(
        List<StreamState> asked, LogCheck check, CancellationToken cancellationToken)
    {
        List<StreamState> walking = [];
        var from = check.Tail;
        for (var i = 0; i < asked.Count; i++)
        {
            var stream = asked[i];
            if (stream.KnownUntil >= check.Tail) continue;
            from = LogPosition.Min(from, stream.KnownUntil);
            stream.Walk = new StreamWalk(
                stream.Stream, check.Streams[i].Positions, stream.KnownUntil, check.Tail, _options);
            walking.Add(stream);
        }

        if (walking.Count == 0) return;

        // Close to the tail, entries that a walk reads are about to be played, so they are fetched whole and kept.
        var keep = check.Tail - from <= _options.WalkWindow;
        await WalkAsync(walking, keep, cancellationToken);
        foreach (var stream in walking)
        {
            stream.Extend(check.Tail);
            if (stream.Ready.Count > 0 || stream.Anchors.Count > 0) Activate(stream);
        }
    }

    /// <summary>Reads in rounds what all walks need, so that a round trip serves all of them.</summary>
    private async ValueTask WalkAsync(List<StreamState> walking, bool keep, CancellationToken cancellationToken)
    {
        var pages = new Dictionary<LogPosition, LogReadResult>();
        List<LogPosition> observe = [], close = [];
        while (true)
        {
            foreach (var walk in walking.Select(s => s.Walk!).Where(w => !w.IsDone))
            {
                var before = close.Count;
                walk.Need(observe, close);
                if (walk.IsScanning) StreamTelemetry.Scanned.Add(close.Count - before);
            }

            if (observe.Count + close.Count == 0) return;
            pages.Clear();
            await ReadIntoAsync(observe, ReadMode.Observe);
            await ReadIntoAsync(close, ReadMode.CloseHoles);
            foreach (var stream in walking) stream.Walk!.Advance(pages);
        }

        async ValueTask ReadIntoAsync(List<LogPosition> positions, ReadMode mode)
        {
            if (positions.Count == 0) return;
            ImmutableArray<LogPosition> wanted = [.. positions.Distinct().Order()];
            positions.Clear();
            var detail = keep ? ReadDetail.Full : ReadDetail.Headers;
            foreach (var result in await _log.ReadManyAsync(wanted, detail, mode, cancellationToken))
            {
                pages[result.Position] = result;
                Settle(result);
                var isFinal = result.State is PageState.Data or PageState.Junk or PageState.Trimmed;
                if (keep && isFinal) _kept[result.Position] = result;
            }
        }
    }

    /// <summary>Continues the walks that were cut short, for the streams that have nothing left to play.</summary>
    private async ValueTask ResumeAsync(CancellationToken cancellationToken)
    {
        var walking = _active.FindAll(s => s.IsStarved);
        foreach (var stream in walking)
            stream.Walk = new StreamWalk(
                stream.Stream, stream.Anchors[^1], stream.ReadyUntil, stream.KnownUntil, _options);
        await WalkAsync(walking, keep: false, cancellationToken);
        foreach (var stream in walking)
        {
            stream.Rewind(Position);
            stream.Resume();
        }

        RebuildHeads();
    }

    private void Settle(LogReadResult result)
    {
        if (result.Entry is { } entry && entry.Position.Epoch <= _epoch)
            _settled = LogPosition.Max(_settled, result.Position.Next);
    }
}

/// <summary>Limits of a <see cref="StreamCursor"/>; tests make them small.</summary>
/// <param name="MaxBatch">Most entries in one read; the number in use adapts to their size.</param>
/// <param name="WalkWindow">Neighbouring positions in one read while walking a stream that is dense in the log.</param>
/// <param name="MaxPositions">Positions of one stream in memory; a longer backlog is walked again in pieces of this
/// size.</param>
/// <param name="ScanFrom">With so many streams, what is new is read from the log instead of asked for stream by
/// stream. Fewer are asked for in less time than it takes to read what is of other streams.</param>
internal sealed record StreamCursorOptions(
    int MaxBatch = 256, int WalkWindow = 512, int MaxPositions = 65536, int ScanFrom = 256);
