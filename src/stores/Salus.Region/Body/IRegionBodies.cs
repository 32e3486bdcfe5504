namespace Salus.Region.Body;

/// <summary>Opens the bodies of regions of one store. A region has one at a time, and another in each
/// generation.</summary>
public interface IRegionBodies
{
    /// <summary>Opens a region at a checkpoint that the store has; what its log has above is for the caller. Files
    /// above all kept ones are deleted: the replay writes them again.</summary>
    /// <param name="kept">All checkpoints that the log of the cluster keeps of the region, as of the
    /// generation.</param>
    /// <param name="from">A kept checkpoint; the newest makes the replay shortest. None: the region begins
    /// empty.</param>
    /// <returns>Null: the store does not have the checkpoint, or not intact.</returns>
    /// <exception cref="IOException">The store cannot tell which files it has.</exception>
    ValueTask<OpenedBody?> OpenAsync(RegionKey region, VolumeGeometry geometry, ImmutableArray<CheckpointName> kept,
        CheckpointName from, CancellationToken cancellationToken);
}

/// <summary>A body and the place in the region's log from which its caller goes on.</summary>
/// <param name="Index">The log is in the body up to here; 0: nothing.</param>
/// <param name="Chain">The chain up to there.</param>
/// <param name="Last">The region's last batch in it.</param>
public sealed record OpenedBody(IRegionBody Body, long Index, Hash128 Chain, BatchName Last);
