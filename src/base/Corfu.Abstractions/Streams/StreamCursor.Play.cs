namespace Corfu;

public sealed partial class StreamCursor
{
    // Payload bytes that a batch aims at, and batches fetched ahead of the player.
    private const int BatchBytes = 1 << 20;
    internal const int ReadAhead = 2;

    private readonly Queue<Batch> _batches = [];
    private readonly PriorityQueue<StreamState, LogPosition> _heads = new();
    private readonly Dictionary<LogPosition, LogReadResult> _kept = [];
    private readonly List<LogReadResult> _current = [];
    private int _index;
    private int _batchSize;
    private CancellationTokenSource _fetching = new();

    // Streams share entries; what is below was fetched already for another stream.
    private LogPosition _fetchedUntil;

    // The position that was met unwritten, with the epoch of the check that followed.
    private LogPosition? _retried;

    /// <summary>Results in order, null where <paramref name="Read"/> brings them.</summary>
    private sealed record Batch(List<LogReadResult?> Results, Task<ImmutableArray<LogReadResult>>? Read);

    public async ValueTask<LogEntry?> ReadNextAsync(CancellationToken cancellationToken = default)
    {
        while (!_needsSync)
        {
            if (_index == _current.Count)
            {
                if (await FetchedAsync(cancellationToken)) continue;

                // Below _settled nothing can change any more; up to the tail, a later epoch may grant a position anew.
                Position = LogPosition.Max(Position, LogPosition.Min(_settled, _syncedTail));
                return null;
            }

            var result = _current[_index];
            if (result.State == PageState.Unwritten && Planted.Is("playback-passes-holes"))
            {
                _index++;
                continue;
            }

            if (result.State == PageState.Unwritten || result.Entry?.Position.Epoch > _epoch)
            {
                if (!await RelearnAsync(result, cancellationToken)) return null;
                continue;
            }

            var isDue = IsDue(result);
            if (Planted.Is("trimmed-is-skipped") && result.State == PageState.Trimmed) isDue = false;
            if (isDue && result.State == PageState.Trimmed)
                throw new LogTrimmedException($"Playing {result.Position}", result.Position);
            if (isDue && result.State == PageState.Corrupt)
                throw new PageCorruptException($"Playing {result.Position}", result.Position);
            _index++;
            Position = LogPosition.Max(Position, result.Position.Next);
            if (isDue) return result.Entry;
        }

        return null;
    }

    /// <summary>Whether the result has to be delivered, as an entry or as the error that it cannot be.</summary>
    private bool IsDue(LogReadResult result)
    {
        if (result.State is PageState.Junk || result.Entry is { IsJunk: true }) return false;
        return result.Entry is null || result.Entry.Streams.Any(
            h => _byId.TryGetValue(h.Stream, out var stream) && result.Position >= stream.Next);
    }

    /// <summary>A newer epoch has begun: grants that were never written are void and their positions may hold other
    /// streams' entries, so what is known above the last final position is learnt anew (R10).</summary>
    private async ValueTask<bool> RelearnAsync(LogReadResult result, CancellationToken cancellationToken)
    {
        var position = result.Position;
        if (_retried != position || _retried?.Epoch != _epoch)
        {
            await SyncAsync(ReadConsistency.Session, cancellationToken);
            _retried = new LogPosition(position.Offset, _epoch);
            if (result.Entry is { } entry && entry.Position.Epoch > _epoch) _epoch = entry.Position.Epoch;
            return true;
        }

        // The position is not granted in this epoch: the log ends here for now.
        _retried = null;
        ForgetFrom(position);
        _syncedTail = new LogPosition(Math.Min(_syncedTail.Offset, position.Offset), _syncedTail.Epoch);
        Refetch();
        return false;
    }

    /// <summary>Makes the next batch current; false when there is nothing left below the synced tail.</summary>
    private async ValueTask<bool> FetchedAsync(CancellationToken cancellationToken)
    {
        StartFetches();
        if (!_batches.TryPeek(out var batch))
        {
            if (!_active.Exists(s => s.IsStarved)) return false;
            await ResumeAsync(cancellationToken);
            return true;
        }

        ImmutableArray<LogReadResult> read = [];
        if (batch.Read is not null)
        {
            try
            {
                read = await batch.Read.WaitOrCancelAsync(cancellationToken);
            }
            catch (Exception) when (batch.Read.IsCompleted)
            {
                Refetch();
                throw;
            }
        }

        _batches.Dequeue();
        Merge(batch.Results, read);
        StartFetches();
        return true;
    }

    private void Merge(List<LogReadResult?> known, ImmutableArray<LogReadResult> read)
    {
        _current.Clear();
        _index = 0;
        var bytes = 0L;
        var next = 0;
        foreach (var kept in known)
        {
            var result = kept ?? read[next++];
            _current.Add(result);
            Settle(result);
            bytes += result.Entry?.Payload.Length ?? 0;
        }

        if (bytes > BatchBytes) _batchSize = Math.Max(1, _batchSize / 2);
        else if (bytes * 2 < BatchBytes && known.Count == _batchSize)
            _batchSize = Math.Min(_options.MaxBatch, _batchSize * 2);
    }

    /// <summary>Keeps <see cref="ReadAhead"/> batches on their way, without waiting.</summary>
    private void StartFetches()
    {
        while (!_needsSync && _batches.Count < ReadAhead)
        {
            var results = new List<LogReadResult?>();
            var missing = ImmutableArray.CreateBuilder<LogPosition>();
            while (results.Count < _batchSize && NextPosition() is { } position)
            {
                if (position < _fetchedUntil) continue;
                _fetchedUntil = position.Next;
                var isKept = _kept.Remove(position, out var kept);
                results.Add(isKept ? kept : null);
                if (!isKept) missing.Add(position);
            }

            if (results.Count == 0) return;
            var read = missing.Count == 0
                ? null
                : _log.ReadManyAsync(missing.DrainToImmutable(), ReadDetail.Full,
                    Planted.Is("playback-passes-holes") ? ReadMode.Observe : ReadMode.CloseHoles,
                    _fetching.Token).AsTask();
            _batches.Enqueue(new Batch(results, read));
        }
    }

    private LogPosition? NextPosition()
    {
        if (!_heads.TryPeek(out var stream, out var position)) return null;

        // A stream whose backlog is only partly in memory may continue anywhere above: nothing may overtake it.
        stream.Fetched++;
        if (stream.IsStarved) _heads.Clear();
        else if (stream.Fetched < stream.Ready.Count) _heads.DequeueEnqueue(stream, stream.Ready[stream.Fetched]);
        else _heads.Dequeue();
        return position;
    }

    private void RebuildHeads()
    {
        _heads.Clear();
        if (_active.Exists(s => s.IsStarved)) return;
        foreach (var stream in _active)
        {
            if (stream.Fetched < stream.Ready.Count) _heads.Enqueue(stream, stream.Ready[stream.Fetched]);
        }
    }

    /// <summary>Drops what is fetched but not delivered; it is fetched again from <see cref="Position"/>.</summary>
    private void Refetch()
    {
        _fetching.Cancel();
        _fetching = new CancellationTokenSource();
        foreach (var batch in _batches) batch.Read?.Abandon();
        _batches.Clear();
        _current.Clear();
        _index = 0;
        _fetchedUntil = Position;
        foreach (var stream in _active) stream.Rewind(Position);
        RebuildHeads();
    }
}
