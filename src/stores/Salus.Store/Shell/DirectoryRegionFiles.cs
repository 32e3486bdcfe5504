using System.Globalization;
using Microsoft.Win32.SafeHandles;
using Salus.Store.Files;

namespace Salus.Store.Shell;

/// <summary>Checkpoint files as <c>VOLUME/REGION/N.ckp</c> in a folder. A file is written beside its name, synced and
/// renamed.</summary>
public sealed class DirectoryRegionFiles : IRegionFiles, IDisposable
{
    private const string Suffix = ".ckp";

    private readonly string _folder;
    private readonly int _mostOpen;
    private readonly Lock _gate = new();
    private readonly Dictionary<RegionFile, SafeFileHandle> _open = [];

    // In the order of opening; some may be closed already.
    private readonly Queue<RegionFile> _order = new();

    // Under names that are not published yet: no rests.
    private readonly HashSet<string> _writing = [];

    /// <param name="mostOpen">A machine may have more files than a process may hold open.</param>
    public DirectoryRegionFiles(string folder, int mostOpen = 512)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(mostOpen);
        _folder = Path.GetFullPath(folder);
        _mostOpen = mostOpen;
        PrivateFolder.Create(_folder);
    }

    public IReadOnlyList<RegionFile> List() => Allowed(FindAll);

    private List<RegionFile> FindAll()
    {
        var found = new List<RegionFile>();
        foreach (var volume in Directory.GetDirectories(_folder))
        {
            if (!Guid.TryParseExact(Path.GetFileName(volume), "N", out var id)) continue;
            foreach (var region in Directory.GetDirectories(volume))
            {
                if (!int.TryParse(Path.GetFileName(region), NumberStyles.None, CultureInfo.InvariantCulture,
                    out var number)) continue;
                AddFiles(found, new RegionKey(new VolumeId(id), number), region);
            }
        }

        return found;
    }

    public IRegionFileWriter Create(RegionFile file) => Allowed(() => Begin(file));

    private Writer Begin(RegionFile file)
    {
        var path = PathOf(file);
        var region = Path.GetDirectoryName(path)!;
        PrivateFolder.Create(Path.GetDirectoryName(region)!);
        PrivateFolder.Create(region);
        // A name counts only when the folders on its way are durable too.
        DurableFile.SyncDirectory(_folder);
        DurableFile.SyncDirectory(Path.GetDirectoryName(region)!);
        return new Writer(this, file);
    }

    public long Length(RegionFile file) => new FileInfo(PathOf(file)).Length;

    public async ValueTask<int> ReadAsync(RegionFile file, long offset, Memory<byte> buffer)
    {
        try
        {
            return await ReadAllAsync(Handle(file), offset, buffer);
        }
        catch (ObjectDisposedException)
        {
            // Closed to make room, between the look and the read.
            return await ReadAllAsync(Handle(file), offset, buffer);
        }
    }

    public void Delete(RegionFile file)
    {
        Close(file);
        var path = PathOf(file);
        if (!File.Exists(path)) return;
        Allowed(() =>
        {
            File.Delete(path);
            return true;
        });
        DurableFile.SyncDirectory(Path.GetDirectoryName(path)!);
    }

    public void Dispose()
    {
        lock (_gate)
        {
            foreach (var handle in _open.Values) handle.Dispose();
            _open.Clear();
        }
    }

    // The port has one kind of failure.
    private static T Allowed<T>(Func<T> step)
    {
        try
        {
            return step();
        }
        catch (UnauthorizedAccessException error)
        {
            throw new IOException(error.Message, error);
        }
    }

    private void AddFiles(List<RegionFile> found, RegionKey region, string folder)
    {
        foreach (var path in Directory.GetFiles(folder))
        {
            var name = Path.GetFileName(path);
            if (name.EndsWith(DurableFile.FreshSuffix, StringComparison.Ordinal)) RemoveRest(path);
            else if (name.EndsWith(Suffix, StringComparison.Ordinal) && long.TryParse(name[..^Suffix.Length],
                NumberStyles.None, CultureInfo.InvariantCulture, out var number))
                found.Add(new RegionFile(region, number));
        }
    }

    private void RemoveRest(string path)
    {
        lock (_gate)
        {
            if (!_writing.Contains(path)) File.Delete(path);
        }
    }

    private void Close(RegionFile file)
    {
        lock (_gate)
        {
            if (_open.Remove(file, out var handle)) handle.Dispose();
        }
    }

    private static async ValueTask<int> ReadAllAsync(SafeFileHandle handle, long offset, Memory<byte> buffer)
    {
        var done = 0;
        while (done < buffer.Length)
        {
            var read = await RandomAccess.ReadAsync(handle, buffer[done..], offset + done);
            if (read == 0) break;
            done += read;
        }

        return done;
    }

    private SafeFileHandle Handle(RegionFile file)
    {
        lock (_gate)
        {
            if (_open.TryGetValue(file, out var handle)) return handle;
            handle = Allowed(() => File.OpenHandle(
                PathOf(file), FileMode.Open, FileAccess.Read, FileShare.Read | FileShare.Delete));
            _open[file] = handle;
            _order.Enqueue(file);
            CloseOldest();
            return handle;
        }
    }

    private void CloseOldest()
    {
        while (_open.Count > _mostOpen && _order.TryDequeue(out var oldest))
        {
            if (_open.Remove(oldest, out var closed)) closed.Dispose();
        }

        // Deleted files are still named there.
        if (_order.Count <= 2 * _mostOpen) return;
        for (var rest = _order.Count; rest > 0; rest--)
        {
            var file = _order.Dequeue();
            if (_open.ContainsKey(file)) _order.Enqueue(file);
        }
    }

    private string PathOf(RegionFile file) => Path.Combine(_folder, file.Region.Volume.Value.ToString("N"),
        file.Region.Region.ToString(CultureInfo.InvariantCulture),
        file.Number.ToString(CultureInfo.InvariantCulture) + Suffix);

    private sealed class Writer : IRegionFileWriter
    {
        private readonly DirectoryRegionFiles _files;
        private readonly RegionFile _name;
        private readonly string _fresh;
        private readonly SafeFileHandle _file;
        private long _length;
        private bool _isPublished;

        public Writer(DirectoryRegionFiles files, RegionFile name)
        {
            _files = files;
            _name = name;
            _fresh = files.PathOf(name) + DurableFile.FreshSuffix;
            lock (files._gate)
            {
                // Exclusive: two copies of one file would mix.
                _file = File.OpenHandle(_fresh, FileMode.Create, FileAccess.Write, FileShare.None);
                files._writing.Add(_fresh);
            }
        }

        public void Write(ReadOnlySpan<byte> bytes)
        {
            DurableFile.Write(_file, _fresh, bytes, _length);
            _length += bytes.Length;
        }

        public ValueTask PublishAsync()
        {
            var path = _files.PathOf(_name);
            DurableFile.Sync(_file, _fresh);
            File.Move(_fresh, path, overwrite: true);
            _isPublished = true;
            DurableFile.SyncDirectory(Path.GetDirectoryName(path)!);
            // A damaged file of the name may be open still.
            _files.Close(_name);
            return ValueTask.CompletedTask;
        }

        public void Dispose()
        {
            _file.Dispose();
            lock (_files._gate)
            {
                _files._writing.Remove(_fresh);
                if (!_isPublished) File.Delete(_fresh);
            }
        }
    }
}
