namespace Corfu.Client;

/// <summary>
/// One stream of the log (Tango 5): <see cref="SyncAsync"/>, then <see cref="ReadNextAsync"/> until it returns null.
/// Appends are safe for concurrent use, the reading half has one owner.
/// </summary>
public sealed class LogStream
{
    private readonly ICorfuLog _log;
    private readonly StreamCursor _cursor;

    public LogStream(ICorfuLog log, StreamId id, LogPosition from = default)
    {
        _log = log;
        Id = id;
        _cursor = new StreamCursor(log);
        _cursor.Add(id, from);
    }

    public StreamId Id { get; }

    /// <summary>Every entry of the stream below is delivered.</summary>
    public LogPosition Position => _cursor.Position;

    /// <inheritdoc cref="ICorfuLog.AppendAsync" />
    public ValueTask<AppendResult> AppendAsync(
        ReadOnlyMemory<byte> payload, CancellationToken cancellationToken = default) =>
        _log.AppendAsync(payload, [Id], cancellationToken);

    /// <inheritdoc cref="IStreamCursor.SyncAsync" />
    public ValueTask<LogPosition> SyncAsync(
        ReadConsistency consistency = ReadConsistency.Linearizable, CancellationToken cancellationToken = default) =>
        _cursor.SyncAsync(consistency, cancellationToken);

    /// <inheritdoc cref="IStreamCursor.ReadNextAsync" />
    public ValueTask<LogEntry?> ReadNextAsync(CancellationToken cancellationToken = default) =>
        _cursor.ReadNextAsync(cancellationToken);
}
