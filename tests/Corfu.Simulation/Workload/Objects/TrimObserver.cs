using System.Collections.Immutable;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>A client's log: tells of prefix trims before they are carried out, and of objects' entries that are known
/// to be in the log.</summary>
/// <param name="around">Carries out the trim that it is given.</param>
/// <param name="before">Completes when the payload may be appended.</param>
/// <param name="appended">Given the payload, the streams and the position.</param>
public sealed class TrimObserver(
    ICorfuLog inner, Func<LogPosition, Func<Task>, Task> around, Func<ReadOnlyMemory<byte>, Task> before,
    Action<ReadOnlyMemory<byte>, ImmutableArray<StreamId>, LogPosition> appended) : ICorfuLog
{
    private readonly Dictionary<EntryOrigin, (ReadOnlyMemory<byte> Payload, ImmutableArray<StreamId> Streams)>
        _unknown = [];

    /// <summary>Carries out the trim of one position that it is given.</summary>
    public Func<LogPosition, Func<Task>, Task> AroundOne { get; init; } = static (_, trim) => trim();

    public int MaxPayload => inner.MaxPayload;

    public ValueTask<AppendResult> AppendAsync(
        ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        CancellationToken cancellationToken = default) =>
        inner.AppendAsync(payload, streams, cancellationToken);

    public async ValueTask<AppendResult> AppendToObjectsAsync(
        ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        CancellationToken cancellationToken = default)
    {
        await before(payload);
        AppendResult result = await inner.AppendToObjectsAsync(payload, streams, cancellationToken);
        Note(result, payload, streams);
        return result;
    }

    public async ValueTask<FollowedAppend> AppendFollowedAsync(ReadOnlyMemory<byte> payload,
        ImmutableArray<StreamId> streams, ImmutableArray<StreamId> followed,
        CancellationToken cancellationToken = default)
    {
        await before(payload);
        FollowedAppend appending = await inner.AppendFollowedAsync(payload, streams, followed, cancellationToken);
        Note(appending.Result, payload, streams);
        return appending;
    }

    public async ValueTask<DecidedAppend> AppendDecidedAsync(ImmutableArray<StreamId> streams, Declaration declaration,
        int largest, Func<Ruling?, ReadOnlyMemory<byte>?> payload, ImmutableArray<StreamId> followed,
        CancellationToken cancellationToken = default)
    {
        // The payload is the same whatever the ruling, where nothing is to be decided.
        if (!declaration.IsDecided && payload(null) is { } known) await before(known);
        ReadOnlyMemory<byte> made = default;
        DecidedAppend appending = await inner.AppendDecidedAsync(
            streams, declaration, largest, Make, followed, cancellationToken);
        if (appending.Append is { Result.Outcome: not AppendOutcome.NotAppended } append)
            Note(append.Result, made, streams);
        return appending;

        ReadOnlyMemory<byte>? Make(Ruling? ruling)
        {
            ReadOnlyMemory<byte>? bytes = payload(ruling);
            made = bytes ?? default;
            return bytes;
        }
    }

    private void Note(AppendResult result, ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams)
    {
        if (result.IsAppended) appended(payload, streams, result.Position);
        else _unknown[result.Origin] = (payload, streams);
    }

    public async ValueTask<AppendOutcome> ResolveAsync(
        AppendResult unknown, CancellationToken cancellationToken = default)
    {
        AppendOutcome outcome = await inner.ResolveAsync(unknown, cancellationToken);
        if (outcome == AppendOutcome.Appended && _unknown.Remove(unknown.Origin, out var entry))
            appended(entry.Payload, entry.Streams, unknown.Position);
        return outcome;
    }

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

    public async ValueTask TrimAsync(LogPosition position, CancellationToken cancellationToken = default) =>
        await AroundOne(position, async () => await inner.TrimAsync(position, cancellationToken));

    public async ValueTask TrimPrefixAsync(LogPosition below, CancellationToken cancellationToken = default) =>
        await around(below, async () => await inner.TrimPrefixAsync(below, cancellationToken));
}
