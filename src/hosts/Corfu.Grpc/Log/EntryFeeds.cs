namespace Corfu.Grpc;

/// <summary>The data entries that a subscription delivers, in log order.</summary>
internal interface IEntryFeed
{
    /// <summary>Everything below is delivered, or not to be delivered.</summary>
    LogPosition Position { get; }

    /// <summary>Learns what <see cref="NextAsync"/> delivers, up to a tail that is known already.</summary>
    /// <param name="isLast">No later sync follows that would bring entries missed by this one.</param>
    ValueTask SyncAsync(LogPosition tail, bool isLast, CancellationToken cancellationToken);

    /// <summary>Null at the synced tail.</summary>
    /// <exception cref="LogTrimmedException">An entry that is due, at or above <see cref="Position"/>, is
    /// trimmed.</exception>
    ValueTask<LogEntry?> NextAsync(CancellationToken cancellationToken);

    /// <summary>Whether everything below a position in a final state is delivered, after
    /// <see cref="NextAsync"/>.</summary>
    bool HasDelivered(LogPosition end);
}

/// <summary>Some streams, merged.</summary>
internal sealed class StreamFeed : IEntryFeed
{
    private readonly StreamCursor _cursor;
    private readonly LogPosition _from;

    public StreamFeed(ICorfuLog log, ImmutableArray<StreamId> streams, LogPosition from)
    {
        _cursor = new StreamCursor(log);
        _from = from;
        foreach (var stream in streams) _cursor.Add(stream, from);
    }

    // The cursor's stays at the log's beginning until something is read.
    public LogPosition Position => LogPosition.Max(_from, _cursor.Position);

    // The streams' newest positions are the sequencer's alone, since the tail is confirmed. A replaced sequencer may
    // still answer older ones: the next sync brings the rest.
    public async ValueTask SyncAsync(LogPosition tail, bool isLast, CancellationToken cancellationToken) =>
        await _cursor.SyncAsync(
            isLast ? ReadConsistency.Linearizable : ReadConsistency.Session, cancellationToken);

    public ValueTask<LogEntry?> NextAsync(CancellationToken cancellationToken) =>
        _cursor.ReadNextAsync(cancellationToken);

    // The cursor's position stays behind its newest entry until the stream has another.
    public bool HasDelivered(LogPosition end) => true;
}

/// <summary>The whole log, one batch read ahead of the one that is delivered.</summary>
internal sealed class LogFeed(ICorfuLog log, LogPosition from, SubscriptionTerms terms, CorfuGrpcOptions options)
    : IEntryFeed
{
    private readonly BatchSize _size = new(options, terms.Detail);
    private LogPosition _tail;
    private LogPosition _readTo = from;
    private ImmutableArray<LogReadResult> _batch = [];
    private int _index;
    private Task<ImmutableArray<LogReadResult>>? _ahead;

    public LogPosition Position { get; private set; } = from;

    public bool HasDelivered(LogPosition end) => Position >= end;

    public ValueTask SyncAsync(LogPosition tail, bool isLast, CancellationToken cancellationToken)
    {
        _tail = terms.To is { } to ? LogPosition.Min(tail, to) : tail;
        return ValueTask.CompletedTask;
    }

    public async ValueTask<LogEntry?> NextAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            if (_index == _batch.Length && !await FetchAsync(cancellationToken)) return null;
            var result = _batch[_index];
            switch (result.State)
            {
                case PageState.Unwritten:
                    // The grant went with its epoch: for now the log ends here, and the positions behind are read
                    // again.
                    Restart();
                    return null;
                case PageState.Trimmed:
                    throw new LogTrimmedException($"Delivering {result.Position}", result.Position);
                case PageState.Corrupt:
                    throw new PageCorruptException($"Delivering {result.Position}", result.Position);
            }

            _index++;
            Position = new LogPosition(result.Position.Offset + 1);
            if (result.IsData) return result.Entry;
        }
    }

    private void Restart()
    {
        _batch = [];
        _index = 0;
        _ahead = null;
        _readTo = Position;
    }

    private async ValueTask<bool> FetchAsync(CancellationToken cancellationToken)
    {
        _ahead ??= StartRead(cancellationToken);
        if (_ahead is null) return false;
        _batch = await _ahead;
        _index = 0;
        _size.Saw(_batch.Length, _batch.Sum(static result => (long)(result.Entry?.Payload.Length ?? 0)));
        _ahead = StartRead(cancellationToken);
        return true;
    }

    private Task<ImmutableArray<LogReadResult>>? StartRead(CancellationToken cancellationToken)
    {
        var count = (int)Math.Min(_size.Entries, _tail - _readTo);
        if (count <= 0) return null;
        var positions = ImmutableArray.CreateBuilder<LogPosition>(count);
        for (var i = 0; i < count; i++) positions.Add(_readTo + i);
        _readTo += count;
        return log.ReadManyAsync(
            positions.MoveToImmutable(), terms.Detail, ReadMode.CloseHoles, cancellationToken).AsTask();
    }
}
