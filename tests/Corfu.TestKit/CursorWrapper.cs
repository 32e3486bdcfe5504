namespace Corfu.TestKit;

/// <summary>A cursor over another one; a double overrides what it does otherwise.</summary>
public abstract class CursorWrapper(IStreamCursor inner) : IStreamCursor
{
    public LogPosition Position => inner.Position;

    public void Add(StreamId stream, LogPosition from) => inner.Add(stream, from);

    public void Remove(StreamId stream) => inner.Remove(stream);

    public virtual ValueTask<LogPosition> SyncAsync(
        ReadConsistency consistency = ReadConsistency.Linearizable, CancellationToken cancellationToken = default) =>
        inner.SyncAsync(consistency, cancellationToken);

    public virtual ValueTask<LogEntry?> ReadNextAsync(CancellationToken cancellationToken = default) =>
        inner.ReadNextAsync(cancellationToken);
}
