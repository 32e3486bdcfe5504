using System.Numerics;

namespace Salus.Protocol;

/// <summary>The hashes of 256 blocks, the 16 nodes over them and their root, the page's hash. Takes 4.25 KiB.</summary>
public sealed class TreePage
{
    public const int Leaves = VolumeGeometry.PageBlocks;

    private readonly Hash128[] _leaves = new Hash128[Leaves];
    private readonly Hash128[] _nodes = new Hash128[Leaves / TreeHash.Fan];

    // A bit for each node whose leaves have changed since its hash was computed.
    private ushort _stale;

    /// <summary>All blocks are empty.</summary>
    public TreePage()
    {
    }

    /// <param name="leaves">At most 256; the others are empty.</param>
    public TreePage(ReadOnlySpan<Hash128> leaves)
    {
        leaves.CopyTo(_leaves);
        _stale = ushort.MaxValue;
        Rehash();
    }

    /// <summary>The page's hash, as of the last <see cref="Rehash"/>; empty if all blocks are.</summary>
    public Hash128 Hash { get; private set; }

    public ReadOnlySpan<Hash128> LeafHashes => _leaves;

    public Hash128 this[int leaf] => _leaves[leaf];

    /// <returns>The hash before.</returns>
    internal Hash128 Set(int leaf, Hash128 hash)
    {
        var before = _leaves[leaf];
        _leaves[leaf] = hash;
        _stale |= (ushort)(1 << (leaf / TreeHash.Fan));
        return before;
    }

    internal Hash128 Rehash()
    {
        if (_stale == 0) return Hash;
        for (int rest = _stale; rest != 0; rest &= rest - 1)
        {
            var node = BitOperations.TrailingZeroCount(rest);
            _nodes[node] = TreeHash.OfChildren(_leaves.AsSpan(node * TreeHash.Fan, TreeHash.Fan), 1);
        }

        _stale = 0;
        return Hash = TreeHash.OfChildren(_nodes, TreeHash.PageLevel);
    }
}
