namespace Corfu.Backup;

/// <summary>Compares every position of a backup with a log that was restored from it. Changes nothing.</summary>
public sealed class LogComparison(BackupReader backup, CorfuClient log)
{
    private const int ReadPositions = 256;

    /// <exception cref="BackupDamagedException">The backup is not what was written.</exception>
    /// <exception cref="BackupException">The log differs; the message names the first position.</exception>
    public async Task RunAsync(Action<CopyProgress>? progress = null, CancellationToken cancellationToken = default)
    {
        var (mark, end) = (new LogPosition(backup.Manifest.TrimMark), new LogPosition(backup.Manifest.End));
        var tail = (await log.CheckAsync([], cancellationToken: cancellationToken)).Tail;
        var trimmed = await log.ReadTrimMarkAsync(cancellationToken);
        if (tail.Offset != end.Offset || trimmed.Offset != mark.Offset)
            throw new BackupException(
                $"The log goes from {trimmed.Offset} to {tail.Offset}, and its backup from {mark.Offset} to "
                + $"{end.Offset}.");
        var done = new CopyProgress(mark, end, 0, 0);
        await foreach (var batch in backup.ReadAsync(mark, cancellationToken))
        {
            foreach (var pages in batch.Pages.SelectMany(Single).Chunk(ReadPositions))
            {
                var read = await log.ReadManyAsync([.. pages.Select(page => page.Position)], ReadDetail.Full,
                    ReadMode.Observe, cancellationToken);
                for (var i = 0; i < pages.Length; i++) Compare(pages[i], read[i]);
            }

            progress?.Invoke(done = done.Add(batch));
        }
    }

    // A run of trimmed positions, one by one.
    private static IEnumerable<CopiedPage> Single(CopiedPage page)
    {
        for (var i = 0L; i < page.Count; i++)
            yield return page with { Position = new LogPosition(page.Position.Offset + i), Count = 1 };
    }

    private static void Compare(CopiedPage page, LogReadResult read)
    {
        var isSame = page.Kind switch
        {
            CopiedKind.Trimmed => read.State == PageState.Trimmed,
            CopiedKind.Tombstone => read.State == PageState.Trimmed && IsSame(page.Entry, read.Entry),
            _ => read.State is PageState.Data or PageState.Junk && IsSame(page.Entry, read.Entry),
        };
        if (!isSame)
            throw new BackupException(
                $"Position {page.Position.Offset} differs: the backup has {page.Kind.ToString().ToLowerInvariant()} "
                + $"there, and the log answers {read.State.ToString().ToLowerInvariant()} or another entry.");
    }

    // The epoch of a copy is the mirror's.
    private static bool IsSame(LogEntry? written, LogEntry? read) => written is not null && read is not null
        && Bytes(written).Span.SequenceEqual(Bytes(read).Span);

    private static ReadOnlyMemory<byte> Bytes(LogEntry entry) =>
        EntryCodec.Encode(entry with { Position = new LogPosition(entry.Position.Offset) });
}
