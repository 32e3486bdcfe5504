using Salus.Store.Files;
using Salus.Store.Log;

namespace Salus.Store;

/// <summary>Drops what a store has of regions whose volumes are deleted.</summary>
public static class StoreSweep
{
    /// <param name="isOver">The volume is being deleted, which is never taken back, and no region server of the process
    /// has the region.</param>
    /// <returns>Regions that were dropped, durably.</returns>
    /// <exception cref="StoreFailedException">The store's log has failed.</exception>
    /// <exception cref="IOException">Files cannot be listed or deleted; the regions are still there.</exception>
    public static async Task<int> DropAsync(StoreLog log, IRegionFiles files, Predicate<RegionKey> isOver)
    {
        ArgumentNullException.ThrowIfNull(log);
        ArgumentNullException.ThrowIfNull(files);
        ArgumentNullException.ThrowIfNull(isOver);
        // The files first: a store that tells of no region has no file of one either.
        foreach (var file in files.List().Where(file => isOver(file.Region))) files.Delete(file);
        var (dropped, durable) = (0, 0L);
        foreach (var region in log.Regions.Select(static known => known.Region).Where(region => isOver(region)))
        {
            // No space for a record: the next sweep tries again.
            if (log.TryForget(region, out var lsn) != Status.Ok) continue;
            (dropped, durable) = (dropped + 1, Math.Max(durable, lsn));
        }

        if (dropped == 0) return 0;
        await log.WaitDurableAsync(durable);
        return dropped;
    }
}
