namespace Corfu;

/// <summary>Finds where a stream's newest entries stand, without playing the stream.</summary>
public static class StreamPositions
{
    // Nothing is cut short: the caller bounds the walk.
    private static readonly StreamCursorOptions s_options = new(MaxPositions: int.MaxValue);

    /// <summary>Walks from the stream's newest entry back to <paramref name="from"/>. It reads headers only.</summary>
    /// <param name="tail">The stream's newest positions, as a check answered them.</param>
    /// <param name="until">The log's tail in the same check.</param>
    /// <returns>Newest first. Some may hold junk or be trimmed; of those below the trim mark, one at most.</returns>
    public static async ValueTask<IReadOnlyList<LogPosition>> FindAsync(
        ICorfuLog log, StreamTail tail, LogPosition from, LogPosition until, CancellationToken cancellationToken)
    {
        var walk = new StreamWalk(tail.Stream, tail.Positions, from, until, s_options);
        var pages = new Dictionary<LogPosition, LogReadResult>();
        List<LogPosition> observe = [], close = [];
        while (!walk.IsDone)
        {
            walk.Need(observe, close);
            pages.Clear();
            await ReadIntoAsync(observe, ReadMode.Observe);
            await ReadIntoAsync(close, ReadMode.CloseHoles);
            walk.Advance(pages);
        }

        return walk.Chunks.Count == 0 ? [] : walk.Chunks[^1].Positions;

        async ValueTask ReadIntoAsync(List<LogPosition> positions, ReadMode mode)
        {
            if (positions.Count == 0) return;
            ImmutableArray<LogPosition> wanted = [.. positions.Distinct().Order()];
            positions.Clear();
            foreach (var result in await log.ReadManyAsync(wanted, ReadDetail.Headers, mode, cancellationToken))
                pages[result.Position] = result;
        }
    }
}
