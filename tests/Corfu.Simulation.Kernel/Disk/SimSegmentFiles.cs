using System.Globalization;
using Corfu.Storage;

namespace Corfu.Simulation.Kernel.Disk;

/// <summary>A log's segments and mark, as files of a simulated disk. Names are durable at once, contents when they are
/// flushed.</summary>
public sealed class SimSegmentFiles(SimDisk disk, SimProcess process, Action deleted) : ISegmentFiles
{
    public const string Prefix = "log.";
    private const string Mark = "mark";

    public IReadOnlyList<int> List() =>
        [.. disk.Names(Prefix).Select(n => int.Parse(n.AsSpan(Prefix.Length), CultureInfo.InvariantCulture)).Order()];

    public long Length(int segment) => disk.Open(Name(segment)).Length;

    public void Create(int segment) => disk.Open(Name(segment));

    public void Delete(int segment)
    {
        disk.Delete(Name(segment));
        deleted();
    }

    public void Write(int segment, long offset, ReadOnlySpan<byte> bytes) =>
        disk.Write(disk.Open(Name(segment)), checked((int)offset), bytes);

    public ValueTask SyncAsync(int segment) => new(disk.FlushAsync(process, disk.Open(Name(segment))));

    public void Read(int segment, long offset, Span<byte> buffer)
    {
        if (disk.Exists(Name(segment))) disk.Read(disk.Open(Name(segment)), offset, buffer);
        else buffer.Clear();
    }

    public bool TryReadCached(int segment, long offset, Span<byte> buffer) => false;

    public ValueTask ReadAsync(int segment, long offset, Memory<byte> buffer)
    {
        if (disk.Exists(Name(segment))) return disk.ReadAsync(process, disk.Open(Name(segment)), offset, buffer);
        buffer.Span.Clear();
        return ValueTask.CompletedTask;
    }

    public ValueTask WriteMarkAsync(long offset, ReadOnlyMemory<byte> bytes)
    {
        disk.Write(disk.Open(Mark), checked((int)offset), bytes.Span);
        return new(disk.FlushAsync(process, disk.Open(Mark)));
    }

    public byte[] ReadMark() => disk.Exists(Mark) ? disk.ReadAll(Mark) : [];

    public void Dispose()
    {
    }

    private static string Name(int segment) => Prefix + segment.ToString(CultureInfo.InvariantCulture);
}
