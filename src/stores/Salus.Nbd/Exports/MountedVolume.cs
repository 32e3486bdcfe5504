using Salus.Nbd.Writes;

namespace Salus.Nbd.Exports;

/// <summary>A mounted volume and the order of its writes, for all connections that use it. They share one
/// <see cref="IVolume"/>, so that a flush on any of them covers what was answered on another.</summary>
internal sealed class MountedVolume(IVolume volume, long recentBytes)
{
    private readonly CancellationTokenSource _lost = new();

    public IVolume Volume => volume;

    public WriteOrder Writes { get; } =
        new(volume, new RecentBlocks(volume.BlockSize, (int)Math.Max(1, recentBytes / volume.BlockSize)));

    /// <summary>Cancelled when the volume has lost its lease, or acknowledged writes: every further call fails, its
    /// connections end, and the volume is mounted anew for the next client.</summary>
    public CancellationToken Lost => _lost.Token;

    public bool IsLost => _lost.IsCancellationRequested;

    public void Lose() => _lost.Cancel();
}
