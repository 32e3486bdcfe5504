using System.Runtime.CompilerServices;

namespace Corfu.Backup;

/// <summary>Reads a range of a running log, every position decided: holes are closed on the way (R10).</summary>
internal sealed class LogPrefixReader(ICorfuLog log, BackupOptions options)
{
    // Batches read while one is written.
    private const int ReadAhead = 2;

    /// <summary>Ends before <paramref name="to"/> where positions below that tail were never written and their epoch
    /// has ended: a later one grants them anew.</summary>
    /// <exception cref="PageCorruptException">No replica has a sound copy of a page.</exception>
    public async IAsyncEnumerable<CopyBatch> ReadAsync(
        LogPosition start, LogPosition to, [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        var reads = new Queue<(LogPosition From, Task<ImmutableArray<LogReadResult>> Read)>();
        var size = Math.Min(16, options.BatchPositions);
        var next = new LogPosition(start.Offset);
        try
        {
            while (next < to || reads.Count > 0)
            {
                while (next < to && reads.Count < ReadAhead)
                {
                    var first = next;
                    var count = (int)Math.Min(size, to - next);
                    var positions = Enumerable.Range(0, count).Select(i => first + i);
                    var read = log.ReadManyAsync([.. positions], cancellationToken: cancellationToken);
                    reads.Enqueue((first, read.AsTask()));
                    next += count;
                }

                var (from, oldest) = reads.Dequeue();
                var results = await oldest;
                var batch = BatchOf(from, results);
                if (batch.Pages.Length > 0) yield return batch;
                if (batch.To - batch.From < results.Length) yield break;
                size = NextSize(size, batch.Bytes);
            }
        }
        finally
        {
            // The caller has the first failure already, or has stopped reading.
            foreach (Task read in reads.Select(r => r.Read))
                await read.ConfigureAwait(
                    ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
        }
    }

    // Entries may be a few bytes or a megabyte: the next batch is sized by this one, and grows slowly.
    private int NextSize(int size, long bytes)
    {
        var fitting = bytes == 0 ? options.BatchPositions : Math.Max(1, CopyBatch.TargetBytes * (long)size / bytes);
        return (int)Math.Min(Math.Min(fitting, size * 2L), options.BatchPositions);
    }

    // Ends before the first position that was never written.
    private static CopyBatch BatchOf(LogPosition first, ImmutableArray<LogReadResult> results)
    {
        var pages = ImmutableArray.CreateBuilder<CopiedPage>();
        foreach (var result in results.TakeWhile(result => result.State != PageState.Unwritten))
        {
            var at = new LogPosition(result.Position.Offset);
            var kind = result.State switch
            {
                PageState.Corrupt => throw new PageCorruptException(
                    $"Position {at.Offset}: no replica has a sound copy of it, so that the log cannot be copied beyond "
                    + "it"),
                PageState.Trimmed => result.Entry is null ? CopiedKind.Trimmed : CopiedKind.Tombstone,
                _ => CopiedKind.Entry,
            };
            if (kind == CopiedKind.Trimmed && pages.Count > 0 && pages[^1].Kind == CopiedKind.Trimmed)
                pages[^1] = pages[^1] with { Count = pages[^1].Count + 1 };
            else pages.Add(new CopiedPage(kind, at, 1, result.Entry));
        }

        return new CopyBatch(first, pages.Count == 0 ? first : pages[^1].Until, pages.DrainToImmutable());
    }
}
