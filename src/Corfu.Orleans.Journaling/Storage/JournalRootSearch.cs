using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Orleans.Journaling.Storage;

/// <summary>Finds where a journal's stream can be read from, without the entries that were trimmed: the newest records
/// name the root.</summary>
internal static class JournalRootSearch
{
    // Positions read at once where the stream's newest ones hold nothing of it.
    private const int ScanBatch = 256;

    /// <summary>So many of the newest entries name the newest root as a rule. Not if a writer that others were ahead of
    /// has just written a large batch: each of its parts names the root that it knew.</summary>
    public const int Newest = 8;

    public const int All = int.MaxValue;

    /// <param name="entries">Newest ones looked at, unless the root is reached before.</param>
    /// <returns>Root and start; -1 each if no record names a root.</returns>
    public static async Task<(long Root, long Start)> FindAsync(
        ICorfuLog log, StreamId stream, int entries, CancellationToken cancellationToken)
    {
        LogCheck check = await log.CheckAsync([stream], cancellationToken: cancellationToken);
        var found = (Root: JournalRecord.None, Start: JournalRecord.None);
        var next = check.Streams[0].Positions;
        for (int seen = 0; seen < entries && !next.IsEmpty;)
        {
            var results = await log.ReadManyAsync(next, cancellationToken: cancellationToken);
            var lowest = results.MinBy(result => result.Position);
            foreach (LogReadResult result in results)
            {
                if (!result.IsData || !result.Entry!.TryGetStream(stream, out _)) continue;
                seen++;
                var record = JournalRecord.Decode(result.Entry.Payload, $"The entry at {result.Position}");
                if (record.Root > found.Root) found = (record.Root, record.Start);
            }

            // What is below a root names older ones only, and most of it is trimmed.
            if (lowest.Position.Offset <= found.Root) break;
            next = Before(lowest, stream);
        }

        return found;
    }

    // A hole's junk may have no header: then the positions below are read one after another.
    private static ImmutableArray<LogPosition> Before(LogReadResult lowest, StreamId stream)
    {
        if (lowest.Entry is { } entry && entry.TryGetStream(stream, out var header)) return header.Backpointers;
        // Trimmed without a header: the log's prefix is gone from here down.
        if (lowest.State == PageState.Trimmed) return [];
        long last = lowest.Position.Offset;
        long first = Math.Max(0, last - ScanBatch);
        return [.. Enumerable.Range(0, (int)(last - first)).Select(i => new LogPosition(first + i))];
    }
}
