using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Simulation.Workload;

/// <summary>A client's log, told of prefix trims before they are carried out.</summary>
/// <param name="around">Carries out the trim that it is given.</param>
public sealed class TrimObserver(ICorfuLog inner, Func<LogPosition, Func<Task>, Task> around) : ICorfuLog
{
    public int MaxPayload => inner.MaxPayload;

    public ValueTask<AppendResult> AppendAsync(
        ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        CancellationToken cancellationToken = default) =>
        inner.AppendAsync(payload, streams, cancellationToken);

    public ValueTask<AppendResult> AppendToObjectsAsync(
        ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        CancellationToken cancellationToken = default) =>
        inner.AppendToObjectsAsync(payload, streams, cancellationToken);

    public ValueTask<AppendOutcome> ResolveAsync(
        AppendResult unknown, CancellationToken cancellationToken = default) =>
        inner.ResolveAsync(unknown, cancellationToken);

    public ValueTask<ImmutableArray<LogReadResult>> ReadManyAsync(
        ImmutableArray<LogPosition> positions, ReadDetail detail = ReadDetail.Full,
        ReadMode mode = ReadMode.CloseHoles, CancellationToken cancellationToken = default) =>
        inner.ReadManyAsync(positions, detail, mode, cancellationToken);

    public ValueTask<LogCheck> CheckAsync(
        ImmutableArray<StreamId> streams, ReadConsistency consistency = ReadConsistency.Linearizable,
        CancellationToken cancellationToken = default) =>
        inner.CheckAsync(streams, consistency, cancellationToken);

    public ValueTask<LogReadResult> FillAsync(
        LogPosition position, CancellationToken cancellationToken = default) =>
        inner.FillAsync(position, cancellationToken);

    public ValueTask TrimAsync(LogPosition position, CancellationToken cancellationToken = default) =>
        inner.TrimAsync(position, cancellationToken);

    public async ValueTask TrimPrefixAsync(LogPosition below, CancellationToken cancellationToken = default) =>
        await around(below, async () => await inner.TrimPrefixAsync(below, cancellationToken));
}
