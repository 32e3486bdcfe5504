using Corfu;

namespace Tango.Collections.Tests;

/// <summary>Tells each check of the log.</summary>
internal sealed class CountingCursor(IStreamCursor inner, Action onSync) : IStreamCursor
{
    public LogPosition Position => inner.Position;

    public void Add(StreamId stream, LogPosition from) => inner.Add(stream, from);

    public void Remove(StreamId stream) => inner.Remove(stream);

    public ValueTask<LogPosition> SyncAsync(
        ReadConsistency consistency = ReadConsistency.Linearizable, CancellationToken cancellationToken = default)
    {
        onSync();
        return inner.SyncAsync(consistency, cancellationToken);
    }

    public ValueTask<LogEntry?> ReadNextAsync(CancellationToken cancellationToken = default) =>
        inner.ReadNextAsync(cancellationToken);
}
