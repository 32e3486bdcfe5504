using Corfu.Simulation.Kernel;
using Corfu.Unit;

namespace Corfu.Simulation.Disk;

/// <summary>The device of a unit's page store, as one file of a simulated disk.</summary>
public sealed class SimLogDevice(SimDisk disk, SimFile file, SimProcess process) : ILogDevice
{
    public long Length => file.Length;

    public long Capacity => disk.Capacity;

    public void Write(long offset, ReadOnlySpan<byte> bytes)
    {
        // Only a start asks nobody: its first record comes before the store serves.
        if (offset + bytes.Length > disk.Capacity) throw new IOException("the simulated disk is full");
        disk.Write(file, checked((int)offset), bytes);
    }

    public ValueTask FlushAsync() => new(disk.FlushAsync(process, file));

    public ValueTask ReadAsync(long offset, Memory<byte> buffer) => disk.ReadAsync(process, file, offset, buffer);
}
