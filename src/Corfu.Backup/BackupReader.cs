using System.Collections.Immutable;
using System.Runtime.CompilerServices;
using System.Security.Cryptography;
using Corfu.Protocol;

namespace Corfu.Backup;

/// <summary>Reads a backup, trusting no byte of it.</summary>
public sealed class BackupReader
{
    private const int BatchRecords = 512;
    private const int BatchBytes = 4 << 20;

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
        await using var stream = Open(folder, BackupManifest.FileName);
        if (stream.Length > BackupManifest.MaxBytes)
            throw new BackupDamagedException(BackupManifest.FileName, "it is too long");
        var bytes = new byte[stream.Length];
        await ReadExactlyAsync(stream, bytes, BackupManifest.FileName, cancellationToken);
        return new BackupReader(folder, BackupManifest.Decode(bytes));
    }

    /// <summary>Every file, every byte: sizes, hashes, records, entries, and that positions follow one
    /// another.</summary>
    /// <exception cref="BackupDamagedException">Names the file and what is wrong with it.</exception>
    public async ValueTask VerifyAsync(Action<CopyProgress>? progress = null,
        CancellationToken cancellationToken = default)
    {
        long positions = 0;
        long bytes = 0;
        await foreach (var batch in ReadAsync(LogPosition.Zero, cancellationToken))
        {
            positions += batch.To - batch.From;
            bytes += batch.Bytes;
            progress?.Invoke(new CopyProgress(batch.To, new LogPosition(Manifest.End), positions, bytes));
        }

        await ReadStreamsAsync(cancellationToken);
    }

    /// <summary>The streams that had entries below the trim mark. Verified whole before it returns.</summary>
    public async ValueTask<ImmutableArray<StreamTail>> ReadStreamsAsync(CancellationToken cancellationToken = default)
    {
        if (Manifest.Streams is not { } file) return [];
        await using var stream = OpenWhole(file);
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        await ReadHeaderAsync(stream, hash, file, file.Until, cancellationToken);
        var tails = ImmutableArray.CreateBuilder<StreamTail>();
        while (stream.Position < stream.Length)
        {
            var at = stream.Position;
            var (header, body) = await ReadPartAsync(stream, hash, file, BackupStreamsCodec.HeaderSize,
                static h => BackupStreamsCodec.BodyLength(h), cancellationToken);
            var block = Checked(file.Name, at, () => BackupStreamsCodec.Decode(header, body));
            if (block.Any(t => t.Positions.Any(p => p.Offset >= file.Until)))
                throw new BackupDamagedException(file.Name, $"at byte {at}: a position is not below the trim mark");
            tails.AddRange(block);
        }

        RequireHash(hash, file);
        return tails.DrainToImmutable();
    }

    /// <summary>What the backup holds from <paramref name="from"/> on, or from its trim mark. The files that have it
    /// are verified while they are read.</summary>
    public async IAsyncEnumerable<CopyBatch> ReadAsync(LogPosition from,
        [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        var next = Math.Max(from.Offset, Manifest.TrimMark);
        foreach (var file in Manifest.Files)
        {
            if (file.Until <= next) continue;
            await foreach (var batch in ReadFileAsync(file, next, cancellationToken)) yield return batch;
            next = file.Until;
        }
    }

    private async IAsyncEnumerable<CopyBatch> ReadFileAsync(BackupFile file, long from,
        [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        await using var stream = OpenWhole(file);
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        await ReadHeaderAsync(stream, hash, file, file.From, cancellationToken);
        var pages = ImmutableArray.CreateBuilder<CopiedPage>();
        long bytes = 0;
        var next = file.From;
        var begin = Math.Max(from, file.From);
        while (next < file.Until)
        {
            var (page, size) = await ReadRecordAsync(stream, hash, file, cancellationToken);
            if (page.Position.Offset != next || page.Until.Offset > file.Until)
                throw new BackupDamagedException(file.Name,
                    $"position {page.Position.Offset} follows where {next} should");
            next = page.Until.Offset;
            if (next <= begin) continue;
            if (page.Position.Offset < begin)
                page = page with { Position = new LogPosition(begin), Count = next - begin };
            pages.Add(page);
            bytes += size;
            if (pages.Count < BatchRecords && bytes < BatchBytes) continue;
            yield return new CopyBatch(new LogPosition(begin), new LogPosition(next), pages.DrainToImmutable());
            begin = next;
            bytes = 0;
        }

        if (stream.Position != stream.Length)
            throw new BackupDamagedException(file.Name, "bytes follow its last record");
        RequireHash(hash, file);
        if (pages.Count > 0)
            yield return new CopyBatch(new LogPosition(begin), new LogPosition(next), pages.DrainToImmutable());
    }

    private async ValueTask ReadHeaderAsync(Stream stream, IncrementalHash hash, BackupFile file, long position,
        CancellationToken cancellationToken)
    {
        var bytes = new byte[BackupFileHeader.Size];
        await ReadExactlyAsync(stream, bytes, file.Name, cancellationToken);
        hash.AppendData(bytes);
        var header = Checked(file.Name, 0, () => BackupFileHeader.Decode(bytes));
        if (header.Cluster != Cluster || header.From.Offset != position)
            throw new BackupDamagedException(file.Name, "it belongs to another backup");
    }

    private static async ValueTask<(CopiedPage Page, int Size)> ReadRecordAsync(
        Stream stream, IncrementalHash hash, BackupFile file, CancellationToken cancellationToken)
    {
        var at = stream.Position;
        var (header, body) = await ReadPartAsync(stream, hash, file, BackupRecordCodec.HeaderSize,
            static h => BackupRecordCodec.BodyLength(h), cancellationToken);
        return (Checked(file.Name, at, () => BackupRecordCodec.Decode(header, body)), header.Length + body.Length);
    }

    private static async ValueTask<(byte[] Header, byte[] Body)> ReadPartAsync(
        Stream stream, IncrementalHash hash, BackupFile file, int headerSize, Func<byte[], int> bodyLength,
        CancellationToken cancellationToken)
    {
        var at = stream.Position;
        var header = new byte[headerSize];
        await ReadExactlyAsync(stream, header, file.Name, cancellationToken);
        var length = Checked(file.Name, at, () => bodyLength(header));
        if (length > stream.Length - stream.Position)
            throw new BackupDamagedException(file.Name, $"it ends inside the record at byte {at}");
        var body = new byte[length];
        await ReadExactlyAsync(stream, body, file.Name, cancellationToken);
        hash.AppendData(header);
        hash.AppendData(body);
        return (header, body);
    }

    private static void RequireHash(IncrementalHash hash, BackupFile file)
    {
        if (!Convert.ToHexStringLower(hash.GetHashAndReset()).Equals(file.Sha256, StringComparison.Ordinal))
            throw new BackupDamagedException(file.Name, "its hash is not the one in the manifest");
    }

    private Stream OpenWhole(BackupFile file)
    {
        var stream = Open(_folder, file.Name);
        if (stream.Length == file.Bytes) return stream;
        using (stream)
            throw new BackupDamagedException(file.Name, $"it has {stream.Length} bytes and should have {file.Bytes}");
    }

    private static T Checked<T>(string file, long at, Func<T> decode)
    {
        try
        {
            return decode();
        }
        catch (MalformedDataException e)
        {
            throw new BackupDamagedException(file, $"at byte {at}: {e.Message.TrimEnd('.')}", e);
        }
    }

    private static Stream Open(IBackupFolder folder, string name)
    {
        try
        {
            return folder.Open(name);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new BackupDamagedException(name, $"it cannot be opened ({e.Message.TrimEnd('.')})", e);
        }
    }

    private static async ValueTask ReadExactlyAsync(Stream stream, Memory<byte> bytes, string name,
        CancellationToken cancellationToken)
    {
        try
        {
            await stream.ReadExactlyAsync(bytes, cancellationToken);
        }
        catch (EndOfStreamException e)
        {
            throw new BackupDamagedException(name, "it ends early", e);
        }
    }
}
