using Corfu.Protocol;

namespace Corfu.Client.InMemory;

/// <summary>Merges streams by asking the in-memory log's index for each stream's next position.</summary>
internal sealed class InMemoryStreamCursor(InMemoryCorfuLog log) : IStreamCursor
{
    // From where on each stream is still to be delivered. An entry below Position is delivered only for streams added later.
    private readonly List<(StreamId Stream, LogPosition From)> _next = [];
    private LogPosition _tail;

    public LogPosition Position { get; private set; }

    public void Add(StreamId stream, LogPosition from)
    {
        _next.RemoveAll(known => known.Stream == stream);
        _next.Add((stream, from));
        Position = LogPosition.Min(Position, from);
    }

    public async ValueTask<LogPosition> SyncAsync(
        ReadConsistency consistency = ReadConsistency.Linearizable, CancellationToken cancellationToken = default)
    {
        var check = await log.CheckAsync([], consistency, cancellationToken);
        _tail = LogPosition.Max(_tail, check.Tail);
        return _tail;
    }

    public async ValueTask<LogEntry?> ReadNextAsync(CancellationToken cancellationToken = default)
    {
        while (Nearest() is { } position)
        {
            var result = (await log.ReadManyAsync([position], cancellationToken: cancellationToken))[0];
            if (result.State == PageState.Trimmed) throw new LogTrimmedException($"Position {position} of a played stream");
            Advance(position.Next);
            if (result is { IsData: true, Entry: { } entry }) return entry;
        }

        Advance(_tail);
        return null;
    }

    private LogPosition? Nearest()
    {
        LogPosition? nearest = null;
        foreach (var (stream, from) in _next)
        {
            if (log.NextOf(stream, from, _tail) is { } next && (nearest is null || next < nearest)) nearest = next;
        }

        return nearest;
    }

    private void Advance(LogPosition to)
    {
        for (var i = 0; i < _next.Count; i++) _next[i] = (_next[i].Stream, LogPosition.Max(_next[i].From, to));
        Position = LogPosition.Max(Position, to);
    }
}
