namespace Corfu.WebConsole.Reading;

/// <summary>A log that can be read and not changed: whatever is built on it, the console appends and trims nothing. A
/// reader closes holes, as every reader must.</summary>
internal sealed class ReadOnlyLog(ICorfuLog log, ReadBudget budget) : ICorfuLog
{
    public int MaxPayload => log.MaxPayload;

    public ValueTask<AppendResult> AppendAsync(
        ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        CancellationToken cancellationToken = default) => throw Refused();

    public ValueTask<AppendResult> AppendToObjectsAsync(
        ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        CancellationToken cancellationToken = default) => throw Refused();

    public ValueTask<AppendOutcome> ResolveAsync(
        AppendResult unknown, CancellationToken cancellationToken = default) => throw Refused();

    public async ValueTask<ImmutableArray<LogReadResult>> ReadManyAsync(
        ImmutableArray<LogPosition> positions, ReadDetail detail = ReadDetail.Full,
        ReadMode mode = ReadMode.CloseHoles, CancellationToken cancellationToken = default)
    {
        var results = await log.ReadManyAsync(positions, detail, mode, cancellationToken);
        await budget.SpendAsync(
            results.Sum(static result => (long)(result.Entry?.Payload.Length ?? 0)), cancellationToken);
        return results;
    }

    public ValueTask<LogCheck> CheckAsync(
        ImmutableArray<StreamId> streams, ReadConsistency consistency = ReadConsistency.Linearizable,
        CancellationToken cancellationToken = default) =>
        log.CheckAsync(streams, consistency, cancellationToken);

    public ValueTask<LogReadResult> FillAsync(LogPosition position, CancellationToken cancellationToken = default) =>
        log.FillAsync(position, cancellationToken);

    public ValueTask TrimAsync(LogPosition position, CancellationToken cancellationToken = default) => throw Refused();

    public ValueTask TrimPrefixAsync(LogPosition below, CancellationToken cancellationToken = default) =>
        throw Refused();

    private static LogReadOnlyException Refused() => new();
}

/// <summary>A part of the console tried to change the log.</summary>
internal sealed class LogReadOnlyException() : CorfuException("The console only reads.");
