using Corfu.Conformance;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Disk;

namespace Corfu.Simulation.Disk;

/// <summary>The files of a unit's address map on a simulated disk.</summary>
internal sealed class SimMapFiles(SimDisk disk, SimProcess process) : IMapFiles
{
    public const string Prefix = "map/";
    private const string FloorMark = "map floor";

    public long Floor { get => disk.Marks.GetValueOrDefault(FloorMark); set => disk.Marks[FloorMark] = value; }

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
