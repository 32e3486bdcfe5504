namespace Salus.Protocol;

/// <summary>The hashes of a volume's tree. A leaf is the hash of a block, empty for an empty block. A node is the hash
/// of 16 children under a seed, the node's level; empty if all of them are.</summary>
/// <remarks>The levels: a page of 256 blocks has 1 and 2, a region of 1,024 pages 3 to 5, the volume's top 6 and
/// above.</remarks>
public static class TreeHash
{
    public const int Fan = 16;

    /// <summary>The level of a page's hash.</summary>
    public const int PageLevel = 2;

    /// <summary>The level of a region's root, whatever the region's size.</summary>
    public const int RegionLevel = 5;

    /// <summary>A leaf. Blocks that were written with zeros are no empty blocks.</summary>
    public static Hash128 OfBlock(ReadOnlySpan<byte> block) => Hash128.Of(block);

    /// <param name="children">At most 16; the others are empty.</param>
    public static Hash128 OfChildren(ReadOnlySpan<Hash128> children, int level)
    {
        if (!children.ContainsAnyExcept(default(Hash128))) return default;
        Span<byte> bytes = stackalloc byte[Fan * Hash128.Size];
        bytes[(children.Length * Hash128.Size)..].Clear();
        for (var i = 0; i < children.Length; i++) children[i].Write(bytes[(i * Hash128.Size)..]);
        return Hash128.Of(bytes, level);
    }
}
