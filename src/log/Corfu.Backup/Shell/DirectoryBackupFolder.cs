namespace Corfu.Backup;

/// <summary>A backup in a directory of this machine.</summary>
public sealed class DirectoryBackupFolder : IBackupFolder
{
    private const string LockName = ".lock";
    private const int WriteBuffer = 1 << 20;

    private readonly string _path;
    private readonly FileStream? _lock;

    private DirectoryBackupFolder(string path, FileStream? @lock)
    {
        _path = path;
        _lock = @lock;
    }

    public string Name => _path;

    /// <summary>For one writer. A missing directory is made; one with other things in it is refused.</summary>
    /// <exception cref="BackupException">In use, or not a backup's.</exception>
    public static DirectoryBackupFolder OpenToWrite(string path)
    {
        path = Path.GetFullPath(path);
        try
        {
            PrivateFolder.Create(path);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new BackupException(
                $"The backup folder {path} cannot be made: {e.Message} Give a folder that can be written.", e);
        }

        // An earlier run may have ended before its own sync, and only a durable manifest tells files from leftovers.
        DurableFile.SyncDirectory(path);
        DurableFile.SyncDirectory(Path.GetDirectoryName(path) ?? path);
        var names = Directory.EnumerateFileSystemEntries(path).Select(Path.GetFileName).Where(n => n != LockName)
            .ToList();
        if (names.Count > 0 && !names.Contains(BackupManifest.FileName)
            && !names.TrueForAll(
                n => BackupFile.IsAnyName(n!) || n == BackupManifest.FileName + DurableFile.FreshSuffix))
            throw new BackupException($"The folder {path} holds something else than a backup: give an empty one.");
        try
        {
            return new DirectoryBackupFolder(path,
                new FileStream(Path.Combine(path, LockName), FileMode.OpenOrCreate, FileAccess.Write, FileShare.None));
        }
        catch (IOException e)
        {
            throw new BackupException($"Another process works in {path}.", e);
        }
    }

    /// <summary>To read one, which may lie on a read-only disk.</summary>
    /// <exception cref="BackupException">Nothing is there.</exception>
    public static DirectoryBackupFolder OpenToRead(string path)
    {
        path = Path.GetFullPath(path);
        return File.Exists(Path.Combine(path, BackupManifest.FileName))
            ? new DirectoryBackupFolder(path, null)
            : throw new BackupException($"There is no backup in {path}: it has no {BackupManifest.FileName}.");
    }

    public IReadOnlyList<string> List() =>
        [.. Directory.EnumerateFiles(_path).Select(f => Path.GetFileName(f)).Order(StringComparer.Ordinal)];

    public Stream Open(string name) =>
        new FileStream(Path.Combine(_path, name), FileMode.Open, FileAccess.Read, FileShare.Read, WriteBuffer);

    public IBackupFileWriter Create(string name) =>
        new FileWriter(
            new FileStream(Path.Combine(_path, name), FileMode.Create, FileAccess.Write, FileShare.Read, WriteBuffer));

    public void Replace(string name, ReadOnlySpan<byte> content)
    {
        // The files that the content names have their directory entries before it has its own.
        DurableFile.SyncDirectory(_path);
        DurableFile.Replace(Path.Combine(_path, name), content);
    }

    public void Delete(string name) => File.Delete(Path.Combine(_path, name));

    public void Dispose() => _lock?.Dispose();

    private sealed class FileWriter(FileStream stream) : IBackupFileWriter
    {
        public void Append(ReadOnlySpan<byte> bytes) => stream.Write(bytes);

        public void Sync()
        {
            stream.Flush();
            DurableFile.Sync(stream.SafeFileHandle, stream.Name);
        }

        public void Dispose() => stream.Dispose();
    }
}
