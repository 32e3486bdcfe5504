namespace Salus;

/// <summary>A volume that may be mounted, as the directory of volumes knows it.</summary>
public interface IVolumeSource
{
    /// <inheritdoc cref="IVolume.Size"/>
    long Size { get; }

    /// <inheritdoc cref="IVolume.BlockSize"/>
    int BlockSize { get; }

    /// <inheritdoc cref="IVolume.IsReadOnly"/>
    bool IsReadOnly { get; }

    /// <summary>Mounts the volume. Called again only after the volume that was mounted before has been
    /// disposed.</summary>
    /// <exception cref="VolumeException">The volume cannot be mounted now.</exception>
    ValueTask<IVolume> MountAsync(CancellationToken cancellationToken);
}
