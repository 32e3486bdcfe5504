namespace Salus.NbdHost;

/// <summary>Volumes in memory, as a directory gives them: each mount is another use of the same blocks.</summary>
/// <param name="mount">Gives the volume, which may have been disposed before.</param>
public sealed class MemorySource(
    long size, int blockSize, bool isReadOnly, Func<CancellationToken, Task<IVolume>> mount) : IVolumeSource
{
    private int _mounts;

    public MemorySource(MemoryVolume volume)
        : this(volume.Size, volume.BlockSize, volume.IsReadOnly, _ => Task.FromResult<IVolume>(volume))
    {
    }

    public long Size => size;

    public int BlockSize => blockSize;

    public bool IsReadOnly => isReadOnly;

    public int Mounts => Volatile.Read(ref _mounts);

    public async ValueTask<IVolume> MountAsync(CancellationToken cancellationToken)
    {
        Interlocked.Increment(ref _mounts);
        return await mount(cancellationToken);
    }
}
