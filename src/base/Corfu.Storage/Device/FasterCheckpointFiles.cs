using FASTER.core;

namespace Corfu.Storage;

/// <summary>The files of FASTER's checkpoints of the address map: plain files, written on the calling thread. FASTER
/// waits for some of these writes under the store's lock. Its own device finishes them on the thread pool, whose
/// threads may all wait for that lock.</summary>
internal sealed class FasterCheckpointFiles : INamedDeviceFactory
{
    private static readonly string[] Kinds = ["index-checkpoints", "cpr-checkpoints"];

    private string _folder = "";
    private volatile Exception? _failure;

    public void Initialize(string baseName) => _folder = baseName;

    public IDevice Get(FileDescriptor fileInfo)
    {
        var folder = Path.Combine(_folder, fileInfo.directoryName);
        try
        {
            PrivateFolder.Create(folder);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            // Thrown here it would end the store. Without the folder the writes fail too, and there is no checkpoint.
            _failure = error;
        }

        return new PlainFileDevice(Path.Combine(folder, fileInfo.fileName), error => _failure = error);
    }

    public void Delete(FileDescriptor fileInfo)
    {
        var path = Path.Combine(_folder, fileInfo.directoryName, fileInfo.fileName ?? "");
        if (Directory.Exists(path)) Directory.Delete(path, true);
        else foreach (var file in Directory.GetFiles(Path.GetDirectoryName(path)!, Path.GetFileName(path) + ".*"))
            File.Delete(file);
    }

    public IEnumerable<FileDescriptor> ListContents(string path)
    {
        var folder = new DirectoryInfo(Path.Combine(_folder, path));
        return folder.Exists ? folder.GetDirectories().OrderByDescending(f => f.LastWriteTimeUtc)
            .Select(f => new FileDescriptor(f.Name, "")) : [];
    }

    /// <summary>Makes one checkpoint durable, or throws the error that FASTER only logged.</summary>
    public void Sync(Guid token)
    {
        foreach (var kind in Kinds)
        {
            var parent = Path.Combine(_folder, kind);
            var folder = Path.Combine(parent, token.ToString());
            if (!Directory.Exists(folder)) continue;
            foreach (var path in Directory.GetFiles(folder))
            {
                using var file = File.OpenHandle(path, access: FileAccess.ReadWrite, share: FileShare.ReadWrite);
                DurableFile.Sync(file, path);
            }

            DurableFile.SyncDirectory(folder);
            DurableFile.SyncDirectory(parent);
        }

        if (_failure is not { } failure) return;
        _failure = null;
        throw new StoreFailedException(
            $"The checkpoint {token} of the address map could not be written: {failure.Message}", failure);
    }

    public bool IsWhole(Guid token) =>
        Kinds.All(kind => Directory.Exists(Path.Combine(_folder, kind, token.ToString())));

    /// <summary>Deletes all other checkpoints.</summary>
    public static void Purge(string folder, IReadOnlyCollection<Guid> kept)
    {
        foreach (var kind in Kinds)
        {
            var parent = Path.Combine(folder, kind);
            if (!Directory.Exists(parent)) continue;
            foreach (var path in Directory.GetDirectories(parent))
            {
                if (Guid.TryParse(Path.GetFileName(path), out var token) && !kept.Contains(token))
                    Directory.Delete(path, true);
            }
        }
    }
}
