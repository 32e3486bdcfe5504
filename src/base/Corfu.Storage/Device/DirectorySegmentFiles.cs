using System.Collections.Concurrent;
using System.Globalization;
using Microsoft.Win32.SafeHandles;

namespace Corfu.Storage;

/// <summary>Segments as files <c>log.N</c> of one directory, one handle each, plain writes and fdatasync.</summary>
public sealed class DirectorySegmentFiles : ISegmentFiles
{
    private const string Prefix = "log.";

    private readonly string _directory;
    private readonly string _markPath;
    private readonly bool _readOnly;
    private readonly ConcurrentDictionary<int, SafeFileHandle> _open = new();
    private readonly SafeFileHandle? _mark;

    /// <param name="readOnly">The log is inspected: nothing is created, and writes fail.</param>
    public DirectorySegmentFiles(string directory, bool readOnly = false)
    {
        _directory = Path.GetFullPath(directory);
        _markPath = Path.Combine(_directory, "mark");
        _readOnly = readOnly;
        if (readOnly)
        {
            if (File.Exists(_markPath)) _mark = OpenFile(_markPath, FileMode.Open);
            return;
        }

        PrivateFolder.Create(_directory);
        _mark = OpenFile(_markPath, FileMode.OpenOrCreate);
        // A process that was killed may have created segments without making their names durable.
        DurableFile.SyncDirectory(_directory);
    }

    public IReadOnlyList<int> List() =>
        [.. DurableFile.ListNumbered(_directory, Prefix).Where(n => n <= int.MaxValue).Select(n => (int)n)];

    public long Length(int segment) => RandomAccess.GetLength(Handle(segment));

    public void Create(int segment)
    {
        _open[segment] = OpenFile(PathOf(segment), FileMode.CreateNew);
        DurableFile.SyncDirectory(_directory);
    }

    public (long Free, long Total) Room
    {
        get
        {
            var drive = new DriveInfo(_directory);
            return (drive.AvailableFreeSpace, drive.TotalSize);
        }
    }

    public void Delete(int segment)
    {
        if (_open.TryRemove(segment, out var handle)) handle.Dispose();
        File.Delete(PathOf(segment));
        DurableFile.SyncDirectory(_directory);
    }

    public void Write(int segment, long offset, ReadOnlySpan<byte> bytes) =>
        DurableFile.Write(Handle(segment), PathOf(segment), bytes, offset);

    public ValueTask SyncAsync(int segment)
    {
        DurableFile.Sync(Handle(segment), PathOf(segment));
        return ValueTask.CompletedTask;
    }

    public void Read(int segment, long offset, Span<byte> buffer)
    {
        if (!_open.ContainsKey(segment) && !File.Exists(PathOf(segment)))
        {
            buffer.Clear();
            return;
        }

        var handle = Handle(segment);
        while (!buffer.IsEmpty)
        {
            var read = RandomAccess.Read(handle, buffer, offset);
            if (read == 0) break;
            buffer = buffer[read..];
            offset += read;
        }

        buffer.Clear();
    }

    public bool TryReadCached(int segment, long offset, Span<byte> buffer) =>
        _open.TryGetValue(segment, out var handle) && DurableFile.TryReadCached(handle, buffer, offset);

    public ValueTask ReadAsync(int segment, long offset, Memory<byte> buffer) =>
        new(Task.Run(() => Read(segment, offset, buffer.Span)));

    public ValueTask WriteMarkAsync(long offset, ReadOnlyMemory<byte> bytes)
    {
        DurableFile.Write(_mark!, _markPath, bytes.Span, offset);
        DurableFile.Sync(_mark!, _markPath);
        return ValueTask.CompletedTask;
    }

    public byte[] ReadMark()
    {
        if (_mark is null) return [];
        var bytes = new byte[RandomAccess.GetLength(_mark)];
        var read = RandomAccess.Read(_mark, bytes, 0);
        return bytes[..read];
    }

    public void Dispose()
    {
        foreach (var handle in _open.Values) handle.Dispose();
        _open.Clear();
        _mark?.Dispose();
    }

    private SafeFileHandle Handle(int segment)
    {
        if (_open.TryGetValue(segment, out var handle)) return handle;
        var opened = OpenFile(PathOf(segment), FileMode.Open);
        handle = _open.GetOrAdd(segment, opened);
        if (!ReferenceEquals(handle, opened)) opened.Dispose();
        return handle;
    }

    private SafeFileHandle OpenFile(string path, FileMode mode) => File.OpenHandle(path, mode,
        _readOnly ? FileAccess.Read : FileAccess.ReadWrite, FileShare.ReadWrite | FileShare.Delete);

    private string PathOf(int segment) =>
        Path.Combine(_directory, Prefix + segment.ToString(CultureInfo.InvariantCulture));
}
