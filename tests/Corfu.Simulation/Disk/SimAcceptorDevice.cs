using Corfu.Register;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Disk;

namespace Corfu.Simulation.Disk;

/// <summary>The two areas of an acceptor's log, as files of a simulated disk.</summary>
public sealed class SimAcceptorDevice(SimDisk disk, SimProcess process) : IAcceptorDevice
{
    private readonly SimFile[] _areas =
        [.. Enumerable.Range(0, IAcceptorDevice.Areas).Select(i => disk.Open($"acceptor.{i}"))];

    public async ValueTask<byte[]> ReadAsync(int area)
    {
        byte[] bytes = new byte[_areas[area].Length];
        await disk.ReadAsync(process, _areas[area], 0, bytes);
        return bytes;
    }

    public void Write(int area, long offset, ReadOnlySpan<byte> bytes) =>
        disk.Write(_areas[area], checked((int)offset), bytes);

    public void Truncate(int area, long length) => disk.Truncate(_areas[area], checked((int)length));

    public ValueTask FlushAsync(int area) => new(disk.FlushAsync(process, _areas[area]));

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
