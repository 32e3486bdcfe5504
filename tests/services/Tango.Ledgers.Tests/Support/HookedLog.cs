using Tango.Ledgers.Records;

namespace Tango.Ledgers.Tests.Support;

/// <summary>The log as a store's process has it, with failures of the test's. The store's directory does not go through
/// it.</summary>
internal sealed class HookedLog(ICorfuLog inner) : ICorfuLog
{
    /// <summary>Instead of an append of a record; it may call the append.</summary>
    public Func<LedgerRecord, Func<ValueTask<AppendResult>>, ValueTask<AppendResult>> OnAppend { get; set; } =
        static (_, append) => append();

    public Func<AppendResult, ValueTask<AppendOutcome>>? OnResolve { get; set; }

    public Func<ImmutableArray<LogPosition>, ValueTask> BeforeRead { get; set; } = static _ => ValueTask.CompletedTask;

    public Func<LogPosition, ValueTask> BeforeTrim { get; set; } = static _ => ValueTask.CompletedTask;

    public int MaxPayload { get; init; } = inner.MaxPayload;

    public ValueTask<AppendResult> AppendAsync(
        ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        CancellationToken cancellationToken = default) =>
        inner.AppendAsync(payload, streams, cancellationToken);

    public ValueTask<AppendResult> AppendToObjectsAsync(
        ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        CancellationToken cancellationToken = default) =>
        OnAppend(LedgerRecord.Decode(payload), () => inner.AppendToObjectsAsync(payload, streams, cancellationToken));

    public ValueTask<AppendOutcome> ResolveAsync(AppendResult unknown, CancellationToken cancellationToken = default) =>
        OnResolve?.Invoke(unknown) ?? inner.ResolveAsync(unknown, cancellationToken);

    public async ValueTask<ImmutableArray<LogReadResult>> ReadManyAsync(
        ImmutableArray<LogPosition> positions, ReadDetail detail = ReadDetail.Full,
        ReadMode mode = ReadMode.CloseHoles, CancellationToken cancellationToken = default)
    {
        await BeforeRead(positions);
        return await inner.ReadManyAsync(positions, detail, mode, cancellationToken);
    }

    public ValueTask<LogCheck> CheckAsync(ImmutableArray<StreamId> streams,
        ReadConsistency consistency = ReadConsistency.Linearizable, CancellationToken cancellationToken = default) =>
        inner.CheckAsync(streams, consistency, cancellationToken);

    public ValueTask<LogReadResult> FillAsync(LogPosition position, CancellationToken cancellationToken = default) =>
        inner.FillAsync(position, cancellationToken);

    public async ValueTask TrimAsync(LogPosition position, CancellationToken cancellationToken = default)
    {
        await BeforeTrim(position);
        await inner.TrimAsync(position, cancellationToken);
    }

    public ValueTask TrimPrefixAsync(LogPosition below, CancellationToken cancellationToken = default) =>
        inner.TrimPrefixAsync(below, cancellationToken);
}
