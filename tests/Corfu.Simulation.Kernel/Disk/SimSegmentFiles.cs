using System.Globalization;
using Corfu.Conformance;
using Corfu.Simulation.Kernel;
using Corfu.Storage;
using Corfu.Unit;

namespace Corfu.Simulation.Disk;

/// <summary>A unit's segments and mark, as files of a simulated disk. Names are durable at once, contents when they are
/// flushed.</summary>
internal sealed class SimSegmentFiles(SimDisk disk, SimProcess process, Action deleted) : ISegmentFiles
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

/// <summary>The files of a unit's address map on a simulated disk.</summary>
internal sealed class SimMapFiles(SimDisk disk, SimProcess process) : IMapFiles
{
    public const string Prefix = "map/";

    public long Floor { get => disk.MapFloor; set => disk.MapFloor = value; }

    public IReadOnlyList<string> List() => [.. disk.Names(Prefix).Select(n => n[Prefix.Length..])];

    public byte[] Read(string name) => disk.ReadAll(Prefix + name);

    public ValueTask WriteAsync(string name, ReadOnlyMemory<byte> bytes)
    {
        SimFile file = disk.Open(Prefix + name);
        disk.Truncate(file, 0);
        disk.Write(file, 0, bytes.Span);
        return new(disk.FlushAsync(process, file));
    }

    public void Rename(string from, string to) => disk.Rename(Prefix + from, Prefix + to);

    public void Delete(string name) => disk.Delete(Prefix + name);
}
