using Salus.Store;

namespace Salus.Hosting;

/// <summary>The generations that the log has recorded, as far as the node follows it. A store that does not reach the
/// log seals nothing.</summary>
internal sealed class KnownGenerations : IGenerations
{
    private volatile IGenerations? _followed;

    /// <param name="followed">Null: the log is not followed.</param>
    public void Follow(IGenerations? followed) => _followed = followed;

    public bool IsRecorded(RegionKey region, Epoch generation) => _followed?.IsRecorded(region, generation) == true;
}
