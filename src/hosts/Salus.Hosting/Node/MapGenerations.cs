using Salus.Coordination;
using Salus.Store;

namespace Salus.Hosting;

/// <summary>The generations that the log has recorded, as far as the node follows it. A store that does not reach the
/// log seals nothing.</summary>
internal sealed class MapGenerations : IGenerations
{
    private volatile VolumeMap? _map;

    /// <summary>The part of the log that the node has played; null: the log is not followed.</summary>
    public MapView? View => _map?.View;

    /// <param name="map">Null: the log is not followed.</param>
    public void Follow(VolumeMap? map) => _map = map;

    public bool IsRecorded(RegionKey region, Epoch generation) =>
        _map?.View.IsRecorded(region, generation) == true;
}
