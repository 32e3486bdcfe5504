using System.Globalization;
using Microsoft.Win32.SafeHandles;

namespace Corfu.Unit;

/// <summary>The segments of a log that is only looked at: nothing is created, written or deleted, whatever state it is
/// in.</summary>
internal sealed class ReadOnlySegmentFiles(string directory) : ISegmentFiles
{
    private readonly Dictionary<int, SafeFileHandle> _open = [];

    public IReadOnlyList<int> List() =>
    [
        .. Directory.GetFiles(directory, "log.*")
            .Select(
                path =>
                    int.TryParse(Path.GetExtension(path).AsSpan(1), NumberStyles.None, CultureInfo.InvariantCulture,
                        out var number) ? number : -1)
            .Where(number => number >= 0)
            .Order(),
    ];

    public long Length(int segment) => RandomAccess.GetLength(Handle(segment));

    public void Read(int segment, long offset, Span<byte> buffer)
    {
        if (!File.Exists(PathOf(segment)))
        {
            buffer.Clear();
            return;
        }

        while (!buffer.IsEmpty)
        {
            var read = RandomAccess.Read(Handle(segment), buffer, offset);
            if (read == 0) break;
            buffer = buffer[read..];
            offset += read;
        }

        buffer.Clear();
    }

    public bool TryReadCached(int segment, long offset, Span<byte> buffer) => false;

    public ValueTask ReadAsync(int segment, long offset, Memory<byte> buffer)
    {
        Read(segment, offset, buffer.Span);
        return ValueTask.CompletedTask;
    }

    public byte[] ReadMark()
    {
        var path = Path.Combine(directory, "mark");
        return File.Exists(path) ? File.ReadAllBytes(path) : [];
    }

    public void Create(int segment) => throw ReadOnly();

    public void Delete(int segment) => throw ReadOnly();

    public void Write(int segment, long offset, ReadOnlySpan<byte> bytes) => throw ReadOnly();

    public ValueTask SyncAsync(int segment) => throw ReadOnly();

    public ValueTask WriteMarkAsync(long offset, ReadOnlyMemory<byte> bytes) => throw ReadOnly();

    public void Dispose()
    {
        foreach (var handle in _open.Values) handle.Dispose();
        _open.Clear();
    }

    private static InvalidOperationException ReadOnly() => new("This log is only looked at.");

    private SafeFileHandle Handle(int segment)
    {
        if (_open.TryGetValue(segment, out var handle)) return handle;
        return _open[segment] = File.OpenHandle(PathOf(segment), FileMode.Open, FileAccess.Read,
            FileShare.ReadWrite | FileShare.Delete);
    }

    private string PathOf(int segment) =>
        Path.Combine(directory, "log." + segment.ToString(CultureInfo.InvariantCulture));
}
