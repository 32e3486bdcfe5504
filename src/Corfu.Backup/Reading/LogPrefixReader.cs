using System.Collections.Immutable;
using System.Runtime.CompilerServices;
using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Backup;

/// <summary>Reads a running log from one end to the other, every position decided: holes are closed on the way
/// (R10).</summary>
internal sealed class LogPrefixReader(ICorfuLog log, BackupOptions options)
{
    /// <summary>
    /// Ends before <paramref name="to"/> where the tail that it came from was taken back: those positions were never
    /// written, and a later epoch grants them anew.
    /// </summary>
    /// <exception cref="PageCorruptException">No replica has a sound copy of a page.</exception>
    public async IAsyncEnumerable<CopyBatch> ReadAsync(
        LogPosition from, LogPosition to, [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        var reads = new Queue<(LogPosition From, Task<ImmutableArray<LogReadResult>> Read)>();
        var size = Math.Min(16, options.BatchPositions);
        var next = new LogPosition(from.Offset);
        try
        {
            while (next < to || reads.Count > 0)
            {
                while (next < to && reads.Count < options.ReadAhead)
                {
                    var count = (int)Math.Min(size, to - next);
                    reads.Enqueue((next, log.ReadManyAsync(Range(next, count), cancellationToken: cancellationToken)
                        .AsTask()));
                    next += count;
                }

                var (first, read) = reads.Dequeue();
                var batch = BatchOf(first, await read, out var whole);
                if (batch.Pages.Length > 0) yield return batch;
                if (!whole) yield break;
                size = NextSize(size, batch.Bytes);
            }
        }
        finally
        {
            foreach (var (_, read) in reads) await IgnoreAsync(read);
        }
    }

    // Entries may be a few bytes or a megabyte: the next batch is sized by this one, and grows slowly.
    private int NextSize(int size, long bytes)
    {
        var fitting = bytes == 0 ? options.BatchPositions : Math.Max(1, options.BatchBytes * (long)size / bytes);
        return (int)Math.Min(Math.Min(fitting, size * 2L), options.BatchPositions);
    }

    private static ImmutableArray<LogPosition> Range(LogPosition first, int count)
    {
        var positions = ImmutableArray.CreateBuilder<LogPosition>(count);
        for (var i = 0; i < count; i++) positions.Add(first + i);
        return positions.MoveToImmutable();
    }

    private static CopyBatch BatchOf(LogPosition first, ImmutableArray<LogReadResult> results, out bool whole)
    {
        var pages = ImmutableArray.CreateBuilder<CopiedPage>();
        var end = first;
        whole = true;
        foreach (var result in results)
        {
            var at = new LogPosition(result.Position.Offset);
            switch (result.State)
            {
                case PageState.Unwritten:
                    whole = false;
                    return new CopyBatch(first, end, pages.DrainToImmutable());
                case PageState.Corrupt:
                    throw new PageCorruptException(
                        $"Position {at.Offset}: no replica has a sound copy of it, so that the log cannot be copied "
                        + "beyond it");
                case PageState.Trimmed when result.Entry is null:
                    if (pages.Count > 0 && pages[^1].Kind == CopiedKind.Trimmed)
                        pages[^1] = pages[^1] with { Count = pages[^1].Count + 1 };
                    else pages.Add(new CopiedPage(CopiedKind.Trimmed, at, 1, null));
                    break;
                case PageState.Trimmed:
                    pages.Add(new CopiedPage(CopiedKind.Tombstone, at, 1, result.Entry));
                    break;
                default:
                    pages.Add(new CopiedPage(CopiedKind.Entry, at, 1, result.Entry));
                    break;
            }

            end = at.Next;
        }

        return new CopyBatch(first, end, pages.DrainToImmutable());
    }

    private static async ValueTask IgnoreAsync(Task abandoned)
    {
        try
        {
            await abandoned;
        }
        catch (Exception)
        {
            // Somebody has heard the first failure already, or wants no more.
        }
    }
}
