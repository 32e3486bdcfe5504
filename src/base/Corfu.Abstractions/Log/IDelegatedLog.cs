namespace Corfu;

/// <summary>A log on which one program appends for others, as a front end does. They choose an entry's origin and a
/// bound of its position. Any other client can therefore find the outcome of an append whose answer was lost, and no
/// clock decides that the entry is not there.</summary>
public interface IDelegatedLog : ICorfuLog
{
    /// <summary>As <see cref="ICorfuLog.AppendAsync"/>. NotAppended where the log has come to the bound.</summary>
    /// <remarks>Each call is an append of its own: two calls with one origin may put two entries into the
    /// log.</remarks>
    ValueTask<AppendResult> AppendAsync(ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        AppendTerms terms, CancellationToken cancellationToken);

    /// <summary>As <see cref="ICorfuLog.AppendToObjectsAsync"/>, with terms.</summary>
    ValueTask<AppendResult> AppendToObjectsAsync(ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        AppendTerms terms, CancellationToken cancellationToken);

    /// <summary>Finds the entries with these origins, and makes the absence of the others final: the tail moves to
    /// <paramref name="below"/> and all holes below it are closed.</summary>
    /// <param name="from">With its epoch: a tail, or an acknowledged position, learnt before the first of the appends
    /// began.</param>
    /// <param name="below">At least <see cref="AppendTerms.Below"/> of each of them.</param>
    /// <returns>In the order of the origins. Unknown: a position where the entry may have stood is trimmed or
    /// damaged.</returns>
    /// <exception cref="PositionNotGrantedException"><paramref name="from"/> is above the tail.</exception>
    ValueTask<ImmutableArray<AppendResult>> SettleAsync(ImmutableArray<EntryOrigin> origins, LogPosition from,
        LogPosition below, CancellationToken cancellationToken);
}
