namespace Salus.Coordination;

/// <summary>The port of a process's region servers to the log of the cluster: the nodes and the volumes, as far as this
/// process has played them. No PUT and no GET waits for the log.</summary>
public interface IRegionMap
{
    /// <summary>A volume has a newer state, the book a newer view (default), or the lease has changed (default). Any
    /// thread; handlers are short.</summary>
    event Action<VolumeId>? Changed;

    /// <summary>Whether this process's lease has not ended: it signs nothing and delivers nothing without (S8, S13).
    /// Any thread; quick.</summary>
    bool IsHeld { get; }

    /// <summary>The newest view that was played.</summary>
    NodeBookView Nodes { get; }

    /// <summary>The volumes that this process may have regions of.</summary>
    IReadOnlyCollection<VolumeId> Volumes { get; }

    /// <summary>The newest state that was played; null: none, or the volume is deleted. Any thread; quick.</summary>
    VolumeState? Find(VolumeId volume);

    /// <summary>Linearizable; later calls of <see cref="Find"/> show at least as much.</summary>
    /// <exception cref="CorfuException">The log cannot be reached.</exception>
    ValueTask<VolumeState?> RefreshAsync(VolumeId volume, CancellationToken cancellationToken = default);

    /// <inheritdoc cref="SalusVolume.RecoveredAsync"/>
    ValueTask<string?> RecoveredAsync(RegionKey region, Epoch generation, RegionOpening opening,
        Certificate certificate, CancellationToken cancellationToken = default);

    /// <inheritdoc cref="SalusVolume.ReportAsync"/>
    ValueTask<string?> ReportAsync(RegionKey region, Epoch generation, RegionReport report, Certificate certificate,
        CancellationToken cancellationToken = default);

    /// <inheritdoc cref="SalusVolume.PublishAsync"/>
    ValueTask<string?> PublishAsync(RegionKey region, Epoch generation, CheckpointName checkpoint,
        Certificate certificate, CancellationToken cancellationToken = default);

    /// <inheritdoc cref="SalusVolume.FillAsync"/>
    ValueTask<string?> FillAsync(RegionKey region, Epoch generation, Incarnation member,
        CancellationToken cancellationToken = default);

    /// <inheritdoc cref="SalusVolume.SuspectAsync"/>
    ValueTask<string?> AccuseAsync(
        RegionKey region, Suspicion suspicion, CancellationToken cancellationToken = default);
}
