namespace Corfu.Store.Tests.Support;

/// <summary>The log as a store's values go through, with disturbances of the test's. The index does not go through
/// it.</summary>
internal sealed class HookedLog(ICorfuLog inner) : ICorfuLog
{
    public Func<ValueTask> BeforeRead { get; set; } = static () => ValueTask.CompletedTask;

    public Func<ValueTask> AfterAppend { get; set; } = static () => ValueTask.CompletedTask;

    /// <summary>Changes what appends return, in place of the log's answer; it may call the append.</summary>
    public Func<Func<ValueTask<AppendResult>>, ValueTask<AppendResult>> OnAppend { get; set; } =
        static append => append();

    /// <summary>Reads of entries of values.</summary>
    public int Reads { get; private set; }

    /// <summary>Entries of values.</summary>
    public int Appends { get; private set; }

    public int MaxPayload => inner.MaxPayload;

    public ValueTask<AppendResult> AppendAsync(ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        CancellationToken cancellationToken = default) =>
        inner.AppendAsync(payload, streams, cancellationToken);

    public async ValueTask<AppendResult> AppendToObjectsAsync(ReadOnlyMemory<byte> payload,
        ImmutableArray<StreamId> streams, CancellationToken cancellationToken = default)
    {
        Appends++;
        var result = await OnAppend(() => inner.AppendToObjectsAsync(payload, streams, cancellationToken));
        await AfterAppend();
        return result;
    }

    public ValueTask<AppendOutcome> ResolveAsync(AppendResult unknown, CancellationToken cancellationToken = default) =>
        inner.ResolveAsync(unknown, cancellationToken);

    public async ValueTask<ImmutableArray<LogReadResult>> ReadManyAsync(ImmutableArray<LogPosition> positions,
        ReadDetail detail = ReadDetail.Full, ReadMode mode = ReadMode.CloseHoles,
        CancellationToken cancellationToken = default)
    {
        Reads++;
        await BeforeRead();
        return await inner.ReadManyAsync(positions, detail, mode, cancellationToken);
    }

    public ValueTask<LogCheck> CheckAsync(ImmutableArray<StreamId> streams,
        ReadConsistency consistency = ReadConsistency.Linearizable, CancellationToken cancellationToken = default) =>
        inner.CheckAsync(streams, consistency, cancellationToken);

    public ValueTask<LogReadResult> FillAsync(LogPosition position, CancellationToken cancellationToken = default) =>
        inner.FillAsync(position, cancellationToken);

    public ValueTask TrimAsync(LogPosition position, CancellationToken cancellationToken = default) =>
        inner.TrimAsync(position, cancellationToken);

    public ValueTask TrimPrefixAsync(LogPosition below, CancellationToken cancellationToken = default) =>
        inner.TrimPrefixAsync(below, cancellationToken);
}
