using System.Numerics;

namespace Salus.Protocol;

/// <summary>The hash tree of a region. All page hashes are there; leaves come on demand, a page at a time, and are
/// checked against their page's hash. Changes are made a batch at a time, and the newest batches can be
/// undone (S24).</summary>
/// <remarks>Not thread-safe. A page without blocks costs nothing.</remarks>
public sealed class RegionTree
{
    private readonly Hash128[] _hashes;

    // Null: the leaves are not here or, where the page's hash is empty, all empty.
    private readonly TreePage?[] _pages;

    // Undos that need the page's leaves where they are: a pinned page stays.
    private readonly int[] _pins;
    private readonly Hash128[] _level3;
    private readonly Hash128[] _level4;

    // A bit for each node of level 3 whose pages have changed; 64 of them at most.
    private ulong _stale;

    // Oldest first.
    private readonly LinkedList<TreeUndo> _undos = [];

    /// <summary>All blocks are empty.</summary>
    /// <param name="pages">1 to 1,024.</param>
    public RegionTree(int pages)
        : this(new Hash128[Checked(pages)])
    {
    }

    private RegionTree(Hash128[] hashes)
    {
        _hashes = hashes;
        _pages = new TreePage?[hashes.Length];
        _pins = new int[hashes.Length];
        _level3 = new Hash128[ParentsOf(hashes.Length)];
        _level4 = new Hash128[ParentsOf(_level3.Length)];
        for (var page = 0; page < hashes.Length; page++) Mark(page);
        Rehash();
    }

    public int Pages => _hashes.Length;

    public Hash128 Root { get; private set; }

    public ReadOnlySpan<Hash128> PageHashes => _hashes;

    /// <summary>Batches that can be undone.</summary>
    public int Unsettled => _undos.Count;

    /// <summary>A tree without leaves, which come by <see cref="TryLoad"/>.</summary>
    public static RegionTree FromPages(ReadOnlySpan<Hash128> hashes)
    {
        Checked(hashes.Length);
        return new RegionTree(hashes.ToArray());
    }

    /// <summary>Whether the leaves of a page have to be loaded before they are read or changed.</summary>
    public bool IsMissing(int page) => _pages[page] is null && !_hashes[page].IsEmpty;

    /// <summary>False: the page is missing.</summary>
    public bool TryGetLeaf(int block, out Hash128 hash)
    {
        var page = block / TreePage.Leaves;
        hash = _pages[page] is { } leaves ? leaves[block % TreePage.Leaves] : default;
        return !IsMissing(page);
    }

    /// <summary>Null: the page is missing or empty.</summary>
    public TreePage? Find(int page) => _pages[page];

    /// <summary>Takes the leaves of a missing page, which the tree owns from now on. False: they are not those of the
    /// page as it is now.</summary>
    public bool TryLoad(int page, TreePage leaves)
    {
        if (leaves.Hash != _hashes[page]) return false;
        _pages[page] ??= leaves;
        return true;
    }

    /// <summary>Drops leaves that can be loaded again. False: a batch that may be undone needs them.</summary>
    public bool TryDrop(int page)
    {
        if (_pins[page] > 0) return false;
        _pages[page] = null;
        return true;
    }

    /// <summary>The first page that must be loaded before the changes can be made; -1: none.</summary>
    public int FirstMissing(ReadOnlySpan<BlockWrite> writes, ReadOnlySpan<ZeroRange> zeros)
    {
        foreach (var write in writes)
        {
            if (IsMissing(write.Block / TreePage.Leaves)) return write.Block / TreePage.Leaves;
        }

        foreach (var zero in zeros)
        {
            // The pages between are emptied whole, without a look at their leaves.
            foreach (var page in (ReadOnlySpan<int>)[zero.First / TreePage.Leaves, (zero.End - 1) / TreePage.Leaves])
            {
                if (IsMissing(page) && !Covers(zero, page)) return page;
            }
        }

        return -1;
    }

    /// <summary>Makes the changes of one batch; they can be undone until they are settled.</summary>
    /// <param name="writes">No block twice, and none that a range of <paramref name="zeros"/> has.</param>
    /// <exception cref="InvalidOperationException">A page is missing; nothing was changed.</exception>
    public void Apply(ReadOnlySpan<BlockWrite> writes, ReadOnlySpan<ZeroRange> zeros)
    {
        if (FirstMissing(writes, zeros) is >= 0 and var missing)
            throw new InvalidOperationException($"Page {missing} of the tree is not loaded.");
        var undo = new TreeUndo(writes.Length);
        foreach (var zero in zeros) Clear(zero, undo);
        foreach (var write in writes) Set(write.Block, write.Hash, undo);
        foreach (var leaf in undo.Leaves) _pins[leaf.Block / TreePage.Leaves]++;
        _undos.AddLast(undo);
        Rehash(undo);
        Rehash();
    }

    /// <summary>Undoes the newest unsettled batch.</summary>
    public void Undo()
    {
        var undo = Newest();
        _undos.RemoveLast();
        Unpin(undo);
        // Leaves first: a batch changes leaves of pages that it does not empty.
        foreach (var (block, before) in undo.Leaves)
        {
            if (Planted.Is("void-keeps-leaves")) break;
            Touch(block / TreePage.Leaves).Set(block % TreePage.Leaves, before);
        }

        Rehash(undo);
        foreach (var (page, hash, leaves) in undo.Emptied)
        {
            _pages[page] = leaves;
            _hashes[page] = hash;
            Mark(page);
        }

        Rehash();
    }

    /// <summary>The oldest unsettled batch stays for good.</summary>
    public void Settle()
    {
        if (_undos.First is not { } oldest) throw new InvalidOperationException("The tree has no unsettled batch.");
        _undos.RemoveFirst();
        Unpin(oldest.Value);
    }

    private static int Checked(int pages)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(pages);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(
            pages, VolumeGeometry.PagesFor(VolumeGeometry.MaxRegionBlocks), nameof(pages));
        return pages;
    }

    private static int ParentsOf(int children) => (children + TreeHash.Fan - 1) / TreeHash.Fan;

    private static bool Covers(in ZeroRange zero, int page) =>
        zero.First <= page * TreePage.Leaves && zero.End >= (page + 1) * TreePage.Leaves;

    private TreeUndo Newest() =>
        _undos.Last?.Value ?? throw new InvalidOperationException("The tree has no unsettled batch.");

    private void Unpin(TreeUndo undo)
    {
        foreach (var leaf in undo.Leaves) _pins[leaf.Block / TreePage.Leaves]--;
    }

    private void Clear(in ZeroRange zero, TreeUndo undo)
    {
        for (var block = zero.First; block < zero.End;)
        {
            var page = block / TreePage.Leaves;
            if (Covers(zero, page)) Empty(page, undo);
            var end = Math.Min(zero.End, (page + 1) * TreePage.Leaves);
            if (_pages[page] is { } leaves)
            {
                for (; block < end; block++)
                {
                    if (!leaves[block % TreePage.Leaves].IsEmpty) Set(block, default, undo);
                }
            }

            block = end;
        }
    }

    private void Empty(int page, TreeUndo undo)
    {
        if (_hashes[page].IsEmpty) return;
        undo.Emptied.Add((page, _hashes[page], _pages[page]));
        _pages[page] = null;
        _hashes[page] = default;
        Mark(page);
    }

    private void Set(int block, Hash128 hash, TreeUndo undo) =>
        undo.Leaves.Add((block, Touch(block / TreePage.Leaves).Set(block % TreePage.Leaves, hash)));

    private TreePage Touch(int page) => _pages[page] ??= new TreePage();

    private void Mark(int page) => _stale |= 1UL << (page / TreeHash.Fan);

    // The pages whose leaves the batch has changed, or its undo.
    private void Rehash(TreeUndo undo)
    {
        foreach (var (block, _) in undo.Leaves)
        {
            var page = block / TreePage.Leaves;
            var hash = _pages[page]!.Rehash();
            if (hash == _hashes[page]) continue;
            _hashes[page] = hash;
            Mark(page);
        }
    }

    private void Rehash()
    {
        var parents = 0;
        for (var rest = _stale; rest != 0; rest &= rest - 1)
        {
            var node = BitOperations.TrailingZeroCount(rest);
            _level3[node] = TreeHash.OfChildren(ChildrenOf(_hashes, node), 3);
            parents |= 1 << (node / TreeHash.Fan);
        }

        _stale = 0;
        if (parents == 0) return;
        for (var rest = parents; rest != 0; rest &= rest - 1)
        {
            var node = BitOperations.TrailingZeroCount(rest);
            _level4[node] = TreeHash.OfChildren(ChildrenOf(_level3, node), 4);
        }

        Root = TreeHash.OfChildren(_level4, TreeHash.RegionLevel);
    }

    private static ReadOnlySpan<Hash128> ChildrenOf(Hash128[] level, int node)
    {
        var from = node * TreeHash.Fan;
        return level.AsSpan(from, Math.Min(TreeHash.Fan, level.Length - from));
    }

    // A batch: leaves as they were, and pages that were emptied whole. No page is in both.
    private sealed class TreeUndo(int leaves)
    {
        public List<(int Block, Hash128 Before)> Leaves { get; } = new(leaves);

        public List<(int Page, Hash128 Hash, TreePage? Leaves)> Emptied { get; } = [];
    }
}
