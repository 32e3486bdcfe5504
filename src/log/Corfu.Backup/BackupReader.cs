using System.Runtime.CompilerServices;

namespace Corfu.Backup;

/// <summary>Reads a backup, trusting no byte of it.</summary>
public sealed class BackupReader
{
    private const int BatchRecords = 512;

    private readonly IBackupFolder _folder;

    private BackupReader(IBackupFolder folder, BackupManifest manifest)
    {
        _folder = folder;
        Manifest = manifest;
    }

    public BackupManifest Manifest { get; }

    public ClusterId Cluster => new(Manifest.Cluster);

    /// <exception cref="BackupDamagedException">The manifest is not what was written.</exception>
    public static async ValueTask<BackupReader> OpenAsync(IBackupFolder folder,
        CancellationToken cancellationToken = default)
    {
        await using var stream = BackupFileReading.Open(folder, BackupManifest.FileName);
        if (stream.Length > BackupManifest.MaxBytes)
            throw new BackupDamagedException(BackupManifest.FileName, "it is too long");
        var bytes = new byte[stream.Length];
        var read = await stream.ReadAtLeastAsync(bytes, bytes.Length, throwOnEndOfStream: false, cancellationToken);
        return new BackupReader(folder, BackupManifest.Decode(bytes.AsSpan(0, read)));
    }

    /// <summary>Checks every byte: sizes, hashes, records, entries, and the sequence of positions.</summary>
    /// <exception cref="BackupDamagedException">Names the file and what is wrong with it.</exception>
    public async ValueTask VerifyAsync(Action<CopyProgress>? progress = null,
        CancellationToken cancellationToken = default)
    {
        var done = new CopyProgress(default, new LogPosition(Manifest.End), 0, 0);
        await foreach (var batch in ReadAsync(LogPosition.Zero, cancellationToken))
            progress?.Invoke(done = done.Add(batch));
        await ReadStreamsAsync(cancellationToken);
    }

    /// <summary>The streams that had entries below the trim mark. Verified whole before it returns.</summary>
    public async ValueTask<ImmutableArray<StreamTail>> ReadStreamsAsync(CancellationToken cancellationToken = default)
    {
        if (Manifest.Streams is not { } file) return [];
        using var reading = await BackupFileReading.OpenAsync(_folder, file, Cluster, file.Until, cancellationToken);
        var tails = ImmutableArray.CreateBuilder<StreamTail>();
        while (!reading.IsAtEnd)
        {
            var (block, _, at) = await reading.ReadAsync(BackupStreamsCodec.HeaderSize,
                static h => BackupStreamsCodec.BodyLength(h), static (h, b) => BackupStreamsCodec.Decode(h, b),
                cancellationToken);
            if (block.Any(t => t.Positions.Any(p => p.Offset >= file.Until)))
                throw reading.Damaged($"at byte {at}: a position is not below the trim mark");
            tails.AddRange(block);
        }

        reading.End();
        return tails.DrainToImmutable();
    }

    /// <summary>Reads the backup from <paramref name="from"/> on, or from its trim mark. Files are verified while they
    /// are read.</summary>
    internal async IAsyncEnumerable<CopyBatch> ReadAsync(LogPosition from,
        [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        var next = Math.Max(from.Offset, Manifest.TrimMark);
        foreach (var file in Manifest.Files.Where(f => f.Until > next))
        {
            await foreach (var batch in ReadFileAsync(file, next, cancellationToken)) yield return batch;
            next = file.Until;
        }
    }

    private async IAsyncEnumerable<CopyBatch> ReadFileAsync(BackupFile file, long from,
        [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        using var reading = await BackupFileReading.OpenAsync(_folder, file, Cluster, file.From, cancellationToken);
        var pages = ImmutableArray.CreateBuilder<CopiedPage>();
        long bytes = 0;
        var next = file.From;
        var begin = Math.Max(from, file.From);
        while (next < file.Until)
        {
            var (page, size, _) = await reading.ReadAsync(BackupRecordCodec.HeaderSize,
                static h => BackupRecordCodec.BodyLength(h), static (h, b) => BackupRecordCodec.Decode(h, b),
                cancellationToken);
            if (page.Position.Offset != next || page.Until.Offset > file.Until)
                throw reading.Damaged($"position {page.Position.Offset} follows where {next} should");
            next = page.Until.Offset;
            if (next <= begin) continue;
            if (page.Position.Offset < begin)
                page = page with { Position = new LogPosition(begin), Count = next - begin };
            pages.Add(page);
            bytes += size;
            if (pages.Count < BatchRecords && bytes < CopyBatch.TargetBytes) continue;
            yield return new CopyBatch(new LogPosition(begin), new LogPosition(next), pages.DrainToImmutable());
            begin = next;
            bytes = 0;
        }

        reading.End();
        if (pages.Count > 0)
            yield return new CopyBatch(new LogPosition(begin), new LogPosition(next), pages.DrainToImmutable());
    }
}
