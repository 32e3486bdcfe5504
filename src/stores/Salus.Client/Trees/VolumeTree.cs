namespace Salus.Trees;

/// <summary>The volume's hash tree as of the newest numbered batch: a tree for each region, and the top over
/// them.</summary>
/// <remarks>Not thread-safe: the driver's gate guards it.</remarks>
internal sealed class VolumeTree
{
    private readonly ImmutableArray<RegionTree> _regions;
    private readonly VolumeTop _top;
    private readonly TreeCache _cache;

    public VolumeTree(ImmutableArray<RegionTree> regions, long cacheBytes)
    {
        _regions = regions;
        _top = new VolumeTop(regions.Length);
        for (var region = 0; region < regions.Length; region++) _top.Set(region, regions[region].Root);
        _cache = new TreeCache(regions, cacheBytes);
    }

    public Hash128 Root => _top.Root;

    public Hash128 RootOf(int region) => _regions[region].Root;

    public Hash128 PageHash(int region, int page) => _regions[region].PageHashes[page];

    /// <summary>The page's leaves from one on; null: they must be loaded.</summary>
    public Hash128[]? Leaves(int region, int first, int count)
    {
        var tree = _regions[region];
        var page = first / TreePage.Leaves;
        if (tree.IsMissing(page)) return null;
        var leaves = new Hash128[count];
        if (tree.Find(page) is not { } found) return leaves;
        _cache.Touch(region, page);
        found.LeafHashes.Slice(first % TreePage.Leaves, count).CopyTo(leaves);
        return leaves;
    }

    /// <summary>False: the page has changed since those were its leaves.</summary>
    public bool TryLoad(int region, int page, TreePage leaves)
    {
        if (!_regions[region].TryLoad(page, leaves)) return false;
        _cache.Touch(region, page);
        return true;
    }

    /// <summary>The pages that must be loaded before the changes can be made.</summary>
    public void AddMissing(int region, ReadOnlySpan<BlockWrite> writes, ReadOnlySpan<ZeroRange> zeros,
        HashSet<(int Region, int Page)> missing)
    {
        var tree = _regions[region];
        foreach (var write in writes) Add(write.Block);
        foreach (var zero in zeros)
        {
            // A page that is emptied whole needs none of its leaves.
            if (zero.First % TreePage.Leaves != 0 || zero.Count < TreePage.Leaves) Add(zero.First);
            if (zero.End % TreePage.Leaves != 0) Add(zero.End - 1);
        }

        void Add(int block)
        {
            if (tree.IsMissing(block / TreePage.Leaves)) missing.Add((region, block / TreePage.Leaves));
        }
    }

    /// <summary>Changes a region by its part of a batch; undone or settled later.</summary>
    public void Apply(int region, ReadOnlySpan<BlockWrite> writes, ReadOnlySpan<ZeroRange> zeros)
    {
        var tree = _regions[region];
        tree.Apply(writes, zeros);
        _top.Set(region, tree.Root);
        foreach (var write in writes) _cache.Touch(region, write.Block / TreePage.Leaves);
    }

    /// <summary>Undoes the region's newest part that is not settled.</summary>
    public void Undo(int region)
    {
        _regions[region].Undo();
        _top.Set(region, _regions[region].Root);
    }

    /// <summary>The region's oldest part stays for good.</summary>
    public void Settle(int region) => _regions[region].Settle();
}
