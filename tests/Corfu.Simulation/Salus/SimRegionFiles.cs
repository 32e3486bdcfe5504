using System.Globalization;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Disk;
using Salus.Protocol;
using Salus.Store.Files;

namespace Corfu.Simulation.Salus;

/// <summary>A store's checkpoint files on a simulated disk. Names are durable at once, contents when they are
/// published.</summary>
internal sealed class SimRegionFiles(SimDisk disk, SimProcess process, IRegionFilesObserver observer) : IRegionFiles
{
    public const string Prefix = "files/";

    private const string Fresh = ".new";

    // Files that the process is writing: no rests.
    private readonly HashSet<string> _writing = new(StringComparer.Ordinal);

    public IReadOnlyList<RegionFile> List()
    {
        List<RegionFile> found = [];
        foreach (var name in disk.Names(Prefix))
        {
            if (!name.EndsWith(Fresh, StringComparison.Ordinal)) found.Add(FileOf(name));
            else if (!_writing.Contains(name)) disk.Delete(name);
        }

        return found;
    }

    public IRegionFileWriter Create(RegionFile file) => new Writer(this, file);

    public long Length(RegionFile file) => disk.Exists(NameOf(file))
        ? disk.Open(NameOf(file)).Length
        : throw new FileNotFoundException($"the simulated disk has no file {NameOf(file)}");

    public async ValueTask<int> ReadAsync(RegionFile file, long offset, Memory<byte> buffer)
    {
        var count = (int)Math.Clamp(Length(file) - offset, 0, buffer.Length);
        if (count > 0) await disk.ReadAsync(process, disk.Open(NameOf(file)), offset, buffer[..count]);
        return count;
    }

    public void Delete(RegionFile file)
    {
        if (!disk.Exists(NameOf(file))) return;
        disk.Delete(NameOf(file));
        observer.Deleted(file);
    }

    private static string NameOf(RegionFile file) => string.Create(CultureInfo.InvariantCulture,
        $"{Prefix}{file.Region.Volume.Value:N}/{file.Region.Region}/{file.Number}");

    private static RegionFile FileOf(string name)
    {
        var parts = name[Prefix.Length..].Split('/');
        return new RegionFile(
            new RegionKey(new VolumeId(Guid.ParseExact(parts[0], "N")),
                int.Parse(parts[1], CultureInfo.InvariantCulture)),
            long.Parse(parts[2], CultureInfo.InvariantCulture));
    }

    private sealed class Writer : IRegionFileWriter
    {
        private readonly SimRegionFiles _files;
        private readonly RegionFile _target;
        private readonly string _fresh;
        private readonly SimFile _file;
        private int _length;
        private bool _isPublished;

        public Writer(SimRegionFiles files, RegionFile target)
        {
            (_files, _target, _fresh) = (files, target, NameOf(target) + Fresh);
            if (!files._writing.Add(_fresh)) throw new IOException($"the file {_fresh} is being written");
            _file = files.Disk.Open(_fresh);
            files.Disk.Truncate(_file, 0);
        }

        public void Write(ReadOnlySpan<byte> bytes)
        {
            _files.Disk.Write(_file, _length, bytes);
            _length += bytes.Length;
        }

        public async ValueTask PublishAsync()
        {
            await _files.Disk.FlushAsync(_files.Process, _file);
            _files.Disk.Rename(_fresh, NameOf(_target));
            _isPublished = true;
            _files.Observer.Published(_target, _files.Disk.ReadAll(NameOf(_target)));
        }

        public void Dispose()
        {
            _files._writing.Remove(_fresh);
            if (!_isPublished) _files.Disk.Delete(_fresh);
        }
    }

    private SimDisk Disk => disk;

    private SimProcess Process => process;

    private IRegionFilesObserver Observer => observer;
}

/// <summary>Told of a machine's checkpoint files.</summary>
internal interface IRegionFilesObserver
{
    void Published(RegionFile file, byte[] bytes);

    void Deleted(RegionFile file);
}
