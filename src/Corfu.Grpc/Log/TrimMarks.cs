using Corfu.Client;

namespace Corfu.Grpc;

/// <summary>Finds where the log can be read again behind a trimmed position.</summary>
internal static class TrimMarks
{
    private const int Together = 512;

    /// <summary>The first position behind the first trimmed one at or above <paramref name="from"/>; the trim mark
    /// where that is higher.</summary>
    public static async ValueTask<LogPosition> NextAsync(
        ICorfuLog log, LogPosition from, CancellationToken cancellationToken)
    {
        if (log is CorfuClient client)
        {
            var mark = await client.ReadTrimMarkAsync(cancellationToken);
            if (mark > from) return mark;
        }

        var tail = (await log.CheckAsync([], cancellationToken: cancellationToken)).Tail;
        var isBehind = false;
        for (var next = from; next < tail; next += Together)
        {
            var count = (int)Math.Min(Together, tail - next);
            ImmutableArray<LogPosition> positions = [.. Enumerable.Range(0, count).Select(i => next + i)];
            var states = await log.ReadManyAsync(
                positions, ReadDetail.State, ReadMode.Observe, cancellationToken);
            foreach (var result in states)
            {
                if (result.State == PageState.Trimmed) isBehind = true;
                else if (isBehind) return result.Position;
            }
        }

        return tail;
    }
}
