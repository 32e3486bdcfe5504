using System.Security.Cryptography;

namespace Corfu.Backup;

/// <summary>A file while it is being read. Size and header are checked first, the hash at the end.</summary>
internal sealed class BackupFileReading : IDisposable
{
    private readonly BackupFile _file;
    private readonly Stream _stream;
    private readonly IncrementalHash _hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);

    private BackupFileReading(IBackupFolder folder, BackupFile file)
    {
        _file = file;
        _stream = Open(folder, file.Name);
    }

    public bool IsAtEnd => _stream.Position == _stream.Length;

    /// <param name="position">The position that the header names.</param>
    public static async ValueTask<BackupFileReading> OpenAsync(
        IBackupFolder folder, BackupFile file, ClusterId cluster, long position, CancellationToken cancellationToken)
    {
        var reading = new BackupFileReading(folder, file);
        try
        {
            var length = reading._stream.Length;
            if (length != file.Bytes) throw reading.Damaged($"it has {length} bytes and should have {file.Bytes}");
            var bytes = await reading.ReadAsync(BackupFileHeader.Size, cancellationToken);
            var header = reading.Checked(0, () => BackupFileHeader.Decode(bytes));
            if (header.Cluster != cluster || header.From.Offset != position)
                throw reading.Damaged("it belongs to another backup");
            return reading;
        }
        catch
        {
            reading.Dispose();
            throw;
        }
    }

    /// <summary>Reads a header, and the body whose length it states.</summary>
    /// <returns>The decoded value, its size in bytes, and its offset in the file.</returns>
    public async ValueTask<(T Value, int Size, long At)> ReadAsync<T>(int headerSize, Func<byte[], int> bodyLength,
        Func<byte[], byte[], T> decode, CancellationToken cancellationToken)
    {
        var at = _stream.Position;
        var header = await ReadAsync(headerSize, cancellationToken);
        var length = Checked(at, () => bodyLength(header));
        if (length > _stream.Length - _stream.Position) throw Damaged($"it ends inside the record at byte {at}");
        var body = await ReadAsync(length, cancellationToken);
        return (Checked(at, () => decode(header, body)), headerSize + length, at);
    }

    /// <summary>After the last record.</summary>
    public void End()
    {
        if (!IsAtEnd) throw Damaged("bytes follow its last record");
        if (!Convert.ToHexStringLower(_hash.GetHashAndReset()).Equals(_file.Sha256, StringComparison.Ordinal))
            throw Damaged("its hash is not the one in the manifest");
    }

    public BackupDamagedException Damaged(string what, Exception? inner = null) => new(_file.Name, what, inner);

    public void Dispose()
    {
        _stream.Dispose();
        _hash.Dispose();
    }

    public static Stream Open(IBackupFolder folder, string name)
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

    private async ValueTask<byte[]> ReadAsync(int length, CancellationToken cancellationToken)
    {
        var bytes = new byte[length];
        try
        {
            await _stream.ReadExactlyAsync(bytes, cancellationToken);
        }
        catch (EndOfStreamException e)
        {
            throw Damaged("it ends early", e);
        }

        _hash.AppendData(bytes);
        return bytes;
    }

    private T Checked<T>(long at, Func<T> decode)
    {
        try
        {
            return decode();
        }
        catch (MalformedDataException e)
        {
            throw Damaged($"at byte {at}: {e.Message.TrimEnd('.')}", e);
        }
    }
}
