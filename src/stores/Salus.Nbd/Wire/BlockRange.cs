namespace Salus.Nbd.Wire;

/// <summary>Consecutive blocks, and what of them lies outside a range of bytes.</summary>
/// <param name="Before">Bytes of the first block before the range.</param>
/// <param name="After">Bytes of the last block behind the range.</param>
internal readonly record struct BlockRange(long First, long Blocks, int Before, int After)
{
    public long End => First + Blocks;

    /// <summary>All blocks that the bytes touch.</summary>
    /// <param name="length">Above zero.</param>
    public static BlockRange Around(long offset, long length, int blockSize)
    {
        var mask = blockSize - 1L;
        var first = offset & ~mask;
        var end = (offset + length + mask) & ~mask;
        return new BlockRange(first / blockSize, (end - first) / blockSize, (int)(offset - first),
            (int)(end - offset - length));
    }

    /// <summary>The blocks without those that the bytes touch in part; perhaps none.</summary>
    public BlockRange Inside()
    {
        var first = First + (Before > 0 ? 1 : 0);
        var end = End - (After > 0 ? 1 : 0);
        return new BlockRange(first, Math.Max(0, end - first), 0, 0);
    }

    public bool Has(long block) => block >= First && block < End;
}
