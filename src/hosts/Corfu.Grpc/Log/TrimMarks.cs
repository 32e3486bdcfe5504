using Corfu.Client;

namespace Corfu.Grpc;

/// <summary>Finds the first readable position behind one that cannot be read.</summary>
internal static class TrimMarks
{
    private const int Together = 512;

    /// <summary>The first position behind <paramref name="due"/> that is not trimmed.</summary>
    public static async ValueTask<LogPosition> NextAsync(
        ICorfuLog log, LogPosition due, CancellationToken cancellationToken)
    {
        var from = due.Next;
        if (log is CorfuClient client)
            from = LogPosition.Max(from, await client.ReadTrimMarkAsync(cancellationToken));
        var tail = (await log.CheckAsync([], cancellationToken: cancellationToken)).Tail;
        for (var next = from; next < tail; next += Together)
        {
            var count = (int)Math.Min(Together, tail - next);
            ImmutableArray<LogPosition> positions = [.. Enumerable.Range(0, count).Select(i => next + i)];
            var states = await log.ReadManyAsync(
                positions, ReadDetail.State, ReadMode.Observe, cancellationToken);
            foreach (var result in states)
            {
                if (result.State != PageState.Trimmed) return result.Position;
            }
        }

        return LogPosition.Max(from, tail);
    }
}
