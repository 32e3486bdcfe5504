using Microsoft.Win32.SafeHandles;

namespace Corfu.Register;

/// <summary>The two areas as files of a folder, locked while open. Flushes are fdatasync.</summary>
public sealed class FileAcceptorDevice : IAcceptorDevice
{
    private readonly string _folder;
    private readonly FileStream _lock;
    private readonly SafeFileHandle[] _files;

    private FileAcceptorDevice(string folder, FileStream @lock, SafeFileHandle[] files)
    {
        _folder = folder;
        _lock = @lock;
        _files = files;
    }

    /// <summary>Creates the folder where it is missing.</summary>
    /// <exception cref="IOException">Another process holds the folder, or it cannot be written.</exception>
    public static FileAcceptorDevice Open(string folder)
    {
        folder = Path.GetFullPath(folder);
        PrivateFolder.Create(folder);
        var held = Hold(folder);
        try
        {
            var files = new SafeFileHandle[IAcceptorDevice.Areas];
            for (var area = 0; area < files.Length; area++)
            {
                files[area] = File.OpenHandle(PathOf(folder, area), FileMode.OpenOrCreate, FileAccess.ReadWrite,
                    FileShare.Read);
            }

            // The names too: an earlier process may have been killed between the creation and this flush.
            DurableFile.SyncDirectory(folder);
            if (Path.GetDirectoryName(folder) is { } parent) DurableFile.SyncDirectory(parent);
            return new FileAcceptorDevice(folder, held, files);
        }
        catch
        {
            held.Dispose();
            throw;
        }
    }

    public ValueTask<byte[]> ReadAsync(int area)
    {
        var file = _files[area];
        var bytes = new byte[RandomAccess.GetLength(file)];
        var filled = 0;
        while (filled < bytes.Length)
        {
            var read = RandomAccess.Read(file, bytes.AsSpan(filled), filled);
            if (read == 0) throw new IOException("An area of the acceptor's log became shorter while it was read.");
            filled += read;
        }

        return ValueTask.FromResult(bytes);
    }

    public void Write(int area, long offset, ReadOnlySpan<byte> bytes) =>
        DurableFile.Write(_files[area], PathOf(_folder, area), bytes, offset);

    public void Truncate(int area, long length) => RandomAccess.SetLength(_files[area], length);

    public ValueTask FlushAsync(int area) => new(Task.Run(() => DurableFile.Sync(_files[area], PathOf(_folder, area))));

    public ValueTask DisposeAsync()
    {
        foreach (var file in _files) file.Dispose();
        _lock.Dispose();
        return ValueTask.CompletedTask;
    }

    private static string PathOf(string folder, int area) => Path.Combine(folder, $"acceptor.{area}");

    private static FileStream Hold(string folder)
    {
        var path = Path.Combine(folder, "acceptor.lock");
        try
        {
            return new FileStream(path, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None);
        }
        catch (IOException e)
            when (e is not (FileNotFoundException or DirectoryNotFoundException or PathTooLongException))
        {
            throw new IOException(
                $"The acceptor folder '{folder}' is in use by another process, or cannot be locked: {e.Message}", e);
        }
    }
}
