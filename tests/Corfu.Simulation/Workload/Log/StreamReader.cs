namespace Corfu.Simulation.Workload.Log;

/// <summary>The cursors of one worker. A cursor that failed midway is not used again: its place is not known.</summary>
internal sealed class StreamReader(Func<IStreamCursor> openCursor)
{
    private readonly SortedDictionary<ulong, (IStreamCursor Cursor, List<(long, long)> Seen)> _lasting = [];

    /// <param name="lasting">Goes on with the cursor of earlier reads, through epochs; else a new one begins.</param>
    /// <returns>All that the cursor has seen since the stream's beginning: positions and payload numbers.</returns>
    public async Task<IReadOnlyList<(long Position, long Payload)>> ReadAsync(StreamId stream, bool lasting)
    {
        (IStreamCursor Cursor, List<(long, long)> Seen) reading;
        // Taken out while it is used: a cursor serves one caller at a time.
        if (lasting && _lasting.Remove(stream.Value, out var kept))
        {
            reading = kept;
        }
        else
        {
            reading = (openCursor(), []);
            reading.Cursor.Add(stream, LogPosition.Zero);
        }

        await reading.Cursor.SyncAsync();
        while (await reading.Cursor.ReadNextAsync() is { } entry)
        {
            reading.Seen.Add((entry.Position.Offset, LogPayload.NumberOf(entry.Payload.Span)));
        }

        if (lasting) _lasting[stream.Value] = reading;
        return [.. reading.Seen];
    }
}
