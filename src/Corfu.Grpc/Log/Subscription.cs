using Corfu.Client;
using Corfu.Grpc.Protocol.Log.V1;
using Grpc.Core;

namespace Corfu.Grpc;

/// <summary>One Subscribe call. A slow client holds it at the write of a response: nothing is read ahead of that but
/// what the feed has under way.</summary>
internal sealed class Subscription(
    ICorfuLog log, TailWatcher tails, CorfuGrpcOptions options, IServerStreamWriter<SubscribeResponse> responses)
{
    private SubscribeResponse _response = new();
    private long _bytes;

    public async Task RunAsync(
        ImmutableArray<StreamId> streams, LogPosition? from, CancellationToken cancellationToken)
    {
        var tail = (await log.CheckAsync([], cancellationToken: cancellationToken)).Tail;
        var start = from ?? tail;
        IEntryFeed feed = streams.IsEmpty ? new LogFeed(log, start, options) : new StreamFeed(log, streams, start);
        await SendAsync(start, tail, cancellationToken);
        while (true)
        {
            tail = await feed.SyncAsync(cancellationToken);
            await DeliverAsync(feed, tail, cancellationToken);
            var moved = await tails.MovesAsync(tail, cancellationToken);
            if (!moved) await SendAsync(feed.Position, tail, cancellationToken);
        }
    }

    private async Task DeliverAsync(IEntryFeed feed, LogPosition tail, CancellationToken cancellationToken)
    {
        try
        {
            while (await feed.NextAsync(cancellationToken) is { } entry)
            {
                if (_response.Entries.Count > 0 && _bytes + entry.Payload.Length > options.MaxBatchBytes)
                    await SendAsync(entry.Position, tail, cancellationToken);
                _response.Entries.Add(LogMessages.ToMessage(entry));
                _bytes += entry.Payload.Length;
                if (_response.Entries.Count >= options.MaxBatchEntries)
                    await SendAsync(entry.Position.Next, tail, cancellationToken);
            }

            if (_response.Entries.Count > 0) await SendAsync(feed.Position, tail, cancellationToken);
        }
        catch (LogTrimmedException)
        {
            if (_response.Entries.Count > 0) await SendAsync(feed.Position, tail, cancellationToken);
            throw new SubscriptionTrimmedException(
                await TrimMarks.NextAsync(log, feed.Position, cancellationToken));
        }
    }

    private async Task SendAsync(LogPosition resumeFrom, LogPosition tail, CancellationToken cancellationToken)
    {
        _response.ResumeFrom = resumeFrom.Offset;
        _response.Tail = tail.Offset;
        await responses.WriteAsync(_response, cancellationToken);
        _response = new SubscribeResponse();
        _bytes = 0;
    }
}

/// <summary>The data entries that a subscription delivers, in log order.</summary>
internal interface IEntryFeed
{
    /// <summary>Everything below is delivered, or not to be delivered.</summary>
    LogPosition Position { get; }

    /// <summary>Learns the tail up to which <see cref="NextAsync"/> delivers.</summary>
    ValueTask<LogPosition> SyncAsync(CancellationToken cancellationToken);

    /// <summary>Null at the synced tail.</summary>
    /// <exception cref="LogTrimmedException">An entry that is due, at or above <see cref="Position"/>, is
    /// trimmed.</exception>
    ValueTask<LogEntry?> NextAsync(CancellationToken cancellationToken);
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

    public ValueTask<LogPosition> SyncAsync(CancellationToken cancellationToken) =>
        _cursor.SyncAsync(ReadConsistency.Linearizable, cancellationToken);

    public ValueTask<LogEntry?> NextAsync(CancellationToken cancellationToken) =>
        _cursor.ReadNextAsync(cancellationToken);
}

/// <summary>The whole log, one batch read ahead of the one that is delivered.</summary>
internal sealed class LogFeed(ICorfuLog log, LogPosition from, CorfuGrpcOptions options) : IEntryFeed
{
    private readonly BatchSize _size = new(options, ReadDetail.Full);
    private LogPosition _tail;
    private LogPosition _readTo = from;
    private ImmutableArray<LogReadResult> _batch = [];
    private int _index;
    private Task<ImmutableArray<LogReadResult>>? _ahead;

    public LogPosition Position { get; private set; } = from;

    public async ValueTask<LogPosition> SyncAsync(CancellationToken cancellationToken)
    {
        _tail = (await log.CheckAsync([], cancellationToken: cancellationToken)).Tail;
        return _tail;
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
                    // The grant went with its epoch: for now the log ends here, and what stands behind is read again.
                    Restart();
                    return null;
                case PageState.Trimmed:
                    throw new LogTrimmedException($"Delivering {result.Position}");
                case PageState.Corrupt:
                    throw new PageCorruptException($"Delivering {result.Position}");
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
            positions.MoveToImmutable(), ReadDetail.Full, ReadMode.CloseHoles, cancellationToken).AsTask();
    }
}
