using System.Collections.Immutable;
using Corfu;

namespace Tango.History;

/// <summary>Finds positions of the log by halving: what is asked for is assumed to rise along the log.</summary>
internal sealed class LogSearch(ICorfuLog log)
{
    // Entries in one read, where some are junk.
    private const int Batch = 32;

    /// <summary>The first position that is not trimmed; the tail if all are. Positions that were trimmed on their own
    /// may let it answer a higher one.</summary>
    public async ValueTask<LogPosition> FindKeptAsync(CancellationToken cancellationToken)
    {
        var (low, high) = (0L, await ReadTailAsync(cancellationToken));
        while (low < high)
        {
            var middle = low + (high - low) / 2;
            var page = (await log.ReadManyAsync(
                [new LogPosition(middle)], ReadDetail.State, cancellationToken: cancellationToken))[0];
            if (page.State == PageState.Trimmed) low = middle + 1;
            else high = middle;
        }

        return new LogPosition(low);
    }

    /// <summary>
    /// A position between two entries: the one below was written at the time or earlier, the one above later, by their
    /// writers' clocks. Without a later entry it lies behind the last one.
    /// </summary>
    /// <exception cref="TangoTrimmedException">All entries of that time are trimmed.</exception>
    public async ValueTask<LogPosition> FindAsync(DateTimeOffset time, CancellationToken cancellationToken)
    {
        var (low, high) = (0L, await ReadTailAsync(cancellationToken));
        LogPosition? trimmed = null;
        while (low < high)
        {
            var middle = low + (high - low) / 2;
            if (await FirstEntryAsync(middle, high, cancellationToken) is not { } page)
            {
                high = middle;
                continue;
            }

            if (page.Entry is { } entry && entry.WriterTime > time)
            {
                high = middle;
                continue;
            }

            low = page.Position.Offset + 1;
            if (page.Entry is null) trimmed = new LogPosition(low);
        }

        var found = new LogPosition(low);
        return found != trimmed
            ? found
            : throw new TangoTrimmedException(
                $"Entries of {time:O} are trimmed; the first that is kept is at {found.Offset}", found, null);
    }

    /// <returns>An entry, or a trimmed position, which has none if the log's prefix was trimmed. Null: there is only
    /// junk.</returns>
    private async ValueTask<LogReadResult?> FirstEntryAsync(
        long from, long below, CancellationToken cancellationToken)
    {
        for (var (next, count) = (from, 1); next < below; next += count, count = Batch)
        {
            count = (int)Math.Min(count, below - next);
            ImmutableArray<LogPosition> positions =
                [.. Enumerable.Range(0, count).Select(i => new LogPosition(next + i))];
            foreach (var page in await log.ReadManyAsync(
                positions, ReadDetail.Headers, cancellationToken: cancellationToken))
            {
                if (page.IsData || page.State == PageState.Trimmed) return page;
            }
        }

        return null;
    }

    private async ValueTask<long> ReadTailAsync(CancellationToken cancellationToken) =>
        (await log.CheckAsync([], ReadConsistency.Linearizable, cancellationToken)).Tail.Offset;
}
