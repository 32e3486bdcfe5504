namespace Salus.Protocol;

/// <summary>The top of a volume's tree, over the roots of its regions. A volume of one region has that region's
/// root.</summary>
/// <remarks>Not thread-safe. Undone by the roots as they were.</remarks>
public sealed class VolumeTop
{
    // Lowest first; each has a sixteenth of the one below, rounded up.
    private readonly List<Hash128[]> _levels;

    /// <summary>All regions are empty.</summary>
    public VolumeTop(int regions)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(regions);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(regions, VolumeGeometry.MaxRegions);
        _levels = [new Hash128[regions]];
        while (_levels[^1].Length > 1)
            _levels.Add(new Hash128[(_levels[^1].Length + TreeHash.Fan - 1) / TreeHash.Fan]);
    }

    public Hash128 Root => _levels[^1][0];

    public Hash128 this[int region] => _levels[0][region];

    public void Set(int region, Hash128 root)
    {
        _levels[0][region] = root;
        for (var (level, node) = (1, region / TreeHash.Fan); level < _levels.Count; level++, node /= TreeHash.Fan)
        {
            var below = _levels[level - 1];
            var from = node * TreeHash.Fan;
            _levels[level][node] = TreeHash.OfChildren(
                below.AsSpan(from, Math.Min(TreeHash.Fan, below.Length - from)), TreeHash.RegionLevel + level);
        }
    }
}
