using System.Globalization;
using System.Numerics;

namespace Salus.Protocol;

/// <summary>A volume as blocks, regions and pages. Fixed when the volume is made: every hash and every file depends on
/// it.</summary>
public sealed record VolumeGeometry
{
    public const int MinBlockSize = 4 << 10;

    /// <summary>As in the paper (2).</summary>
    public const int MaxBlockSize = 256 << 10;

    /// <summary>Blocks of a page of the hash tree and of a checkpoint's index.</summary>
    public const int PageBlocks = 256;

    /// <summary>A node of the tree. Far less than a page: the simulator's regions are small.</summary>
    public const int MinRegionBlocks = 16;

    /// <summary>A region's page table then has 1,024 entries; at 4 KiB the region is 1 GiB.</summary>
    public const int MaxRegionBlocks = 1 << 18;

    /// <summary>A marker's header names all regions, and each region gets it.</summary>
    public const int MaxRegions = 4096;

    public const int MaxCopies = 3;

    // The smallest region that is chosen without being asked for: several regions on small volumes, few on tiny ones.
    private const int LeastDefault = 1 << 12;
    private const int DefaultRegions = 8;

    private VolumeGeometry(long size, int blockSize, int regionBlocks, int copies)
    {
        Size = size;
        BlockSize = blockSize;
        RegionBlocks = regionBlocks;
        Copies = copies;
    }

    /// <summary>Bytes; whole blocks.</summary>
    public long Size { get; }

    public int BlockSize { get; }

    /// <summary>Blocks of each region but the last, which may have fewer.</summary>
    public int RegionBlocks { get; }

    /// <summary>Members of each region.</summary>
    public int Copies { get; }

    public long Blocks => Size / BlockSize;

    public int Regions => (int)((Blocks + RegionBlocks - 1) / RegionBlocks);

    /// <param name="regionBlocks">Null: an eighth of the volume, within the limits.</param>
    /// <exception cref="ArgumentException">Says what is wrong, and what to choose instead.</exception>
    public static VolumeGeometry Create(long size, int blockSize = MinBlockSize, int? regionBlocks = null,
        int copies = MaxCopies)
    {
        if (FaultOf(size, blockSize, regionBlocks, copies) is { } fault) throw new ArgumentException(fault);
        return new VolumeGeometry(size, blockSize, regionBlocks ?? DefaultRegion(size / blockSize), copies);
    }

    /// <summary>A sentence for people; null: the geometry is possible.</summary>
    public static string? FaultOf(long size, int blockSize, int? regionBlocks, int copies)
    {
        if (!IsPow2Within(blockSize, MinBlockSize, MaxBlockSize))
            return $"A block of {Text(blockSize)} bytes: choose a power of two from 4 KiB to 256 KiB.";
        if (regionBlocks is { } asked && !IsPow2Within(asked, MinRegionBlocks, MaxRegionBlocks))
        {
            return $"A region of {Text(asked)} blocks: choose a power of two from {Text(MinRegionBlocks)} to "
                + $"{Text(MaxRegionBlocks)}.";
        }

        if (copies is < 1 or > MaxCopies) return $"{Text(copies)} copies: choose 1 to {MaxCopies}.";
        if (size <= 0 || size % blockSize != 0)
            return $"A volume of {Text(size)} bytes: choose a multiple of the block size, {Text(blockSize)}.";
        var region = regionBlocks ?? DefaultRegion(size / blockSize);
        var most = (long)MaxRegions * region * blockSize;
        return size > most
            ? $"A volume of {Text(size)} bytes has more than {Text(MaxRegions)} regions: choose larger regions or "
                + $"blocks. At {Text(region)} blocks of {Text(blockSize)} bytes it may have {Text(most)} bytes."
            : null;
    }

    /// <summary>Blocks of a region; fewer in the last one.</summary>
    public int BlocksOf(int region)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual((uint)region, (uint)Regions, nameof(region));
        return (int)Math.Min(RegionBlocks, Blocks - (long)region * RegionBlocks);
    }

    /// <summary>Pages of a region; the last one may be partly used.</summary>
    public int PagesOf(int region) => PagesFor(BlocksOf(region));

    public static int PagesFor(int blocks) => (blocks + PageBlocks - 1) / PageBlocks;

    /// <summary>The beginning of a range as far as it lies in one region; the caller goes on behind it.</summary>
    public BlockRange FirstPiece(long block, long count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(block);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(count);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(count, Blocks - block);
        var region = (int)(block / RegionBlocks);
        var first = (int)(block % RegionBlocks);
        return new BlockRange(region, first, (int)Math.Min(count, BlocksOf(region) - first));
    }

    private static int DefaultRegion(long blocks) => (int)Math.Clamp(
        (long)BitOperations.RoundUpToPowerOf2((ulong)(blocks + DefaultRegions - 1) / DefaultRegions), LeastDefault,
        MaxRegionBlocks);

    private static bool IsPow2Within(int value, int least, int most) =>
        value >= least && value <= most && BitOperations.IsPow2(value);

    private static string Text(long value) => value.ToString("N0", CultureInfo.InvariantCulture);
}
