namespace Corfu;

/// <summary>Plays streams merged in log order (Tango 5). Not safe for concurrent use: one player owns it.</summary>
public interface IStreamCursor
{
    /// <summary>Everything below is delivered or belongs to none of the streams, and stays so. At the end of a play it
    /// may lie below the synced tail: a later epoch may grant the last positions anew if they were never
    /// written.</summary>
    LogPosition Position { get; }

    /// <summary>Adds a stream whose entries at or above <paramref name="from"/> are to be delivered. With
    /// <paramref name="from"/> below <see cref="Position"/> the cursor goes back: entries that belong only to streams
    /// already played are not delivered twice.</summary>
    void Add(StreamId stream, LogPosition from);

    /// <summary>Delivers nothing more on this stream's account. Does nothing if it was not added.</summary>
    void Remove(StreamId stream);

    /// <summary>Learns the streams' new positions (a check) and starts fetching. Returns the tail up to which
    /// <see cref="ReadNextAsync"/> now delivers.</summary>
    ValueTask<LogPosition> SyncAsync(
        ReadConsistency consistency = ReadConsistency.Linearizable, CancellationToken cancellationToken = default);

    /// <summary>Learns the streams' new positions up to an entry of this process, from what its append
    /// returned.</summary>
    /// <returns>The tail, which is that of a new check where what is given does not do.</returns>
    ValueTask<LogPosition> SyncAsync(AppendedEntry placed, CancellationToken cancellationToken = default) =>
        SyncAsync(ReadConsistency.Session, cancellationToken);

    /// <summary>The next data entry of any of the streams below the synced tail, in position order, holes closed, junk
    /// skipped; null when the synced tail is reached.</summary>
    /// <exception cref="LogTrimmedException">An entry that should be delivered was trimmed: the player must reload from
    /// a checkpoint.</exception>
    ValueTask<LogEntry?> ReadNextAsync(CancellationToken cancellationToken = default);
}
