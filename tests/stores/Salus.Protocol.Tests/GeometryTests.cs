namespace Salus.Protocol.Tests;

public sealed class GeometryTests
{
    private const long Mib = 1 << 20;
    private const long Gib = 1 << 30;

    [Theory]
    [InlineData(64 * 1024, 4096, 1)]
    [InlineData(16 * Mib, 4096, 1)]
    [InlineData(128 * Mib, 4096, 8)]
    [InlineData(1 * Gib, 32768, 8)]
    [InlineData(64 * Gib, 262144, 64)]
    public void Default_region_is_an_eighth_within_the_limits(long size, int expected, int regions)
    {
        var geometry = VolumeGeometry.Create(size);
        Assert.Equal((expected, regions), (geometry.RegionBlocks, geometry.Regions));
    }

    [Fact]
    public void Last_region_has_the_rest_of_the_blocks()
    {
        var geometry = VolumeGeometry.Create(150 * 4096L, 4096, 64);
        Assert.Equal(3, geometry.Regions);
        Assert.Equal([64, 64, 22], Enumerable.Range(0, 3).Select(geometry.BlocksOf));
        Assert.Equal(1, geometry.PagesOf(2));
        Assert.Throws<ArgumentOutOfRangeException>(() => geometry.BlocksOf(3));
    }

    [Fact]
    public void Range_is_divided_at_the_borders_of_regions()
    {
        var geometry = VolumeGeometry.Create(150 * 4096L, 4096, 64);
        var pieces = new List<BlockRange>();
        for (var (block, count) = (60L, 90L); count > 0;)
        {
            var piece = geometry.FirstPiece(block, count);
            pieces.Add(piece);
            block += piece.Count;
            count -= piece.Count;
        }

        Assert.Equal([new BlockRange(0, 60, 4), new BlockRange(1, 0, 64), new BlockRange(2, 0, 22)], pieces);
        Assert.Throws<ArgumentOutOfRangeException>(() => geometry.FirstPiece(149, 2));
        Assert.Throws<ArgumentOutOfRangeException>(() => geometry.FirstPiece(0, 0));
    }

    [Theory]
    [InlineData(4096, 2048, null, 3, "4 KiB to 256 KiB")]
    [InlineData(4096, 5000, null, 3, "4 KiB to 256 KiB")]
    [InlineData(4096, 1 << 19, null, 3, "4 KiB to 256 KiB")]
    [InlineData(4096, 4096, 48, 3, "16 to 262,144")]
    [InlineData(4096, 4096, 1 << 19, 3, "16 to 262,144")]
    [InlineData(4096, 4096, null, 0, "1 to 3")]
    [InlineData(4096, 4096, null, 4, "1 to 3")]
    [InlineData(0, 4096, null, 3, "multiple of the block size, 4,096")]
    [InlineData(5000, 4096, null, 3, "multiple of the block size, 4,096")]
    [InlineData(4097L * 16 * 4096, 4096, 16, 3, "larger regions or blocks")]
    public void Impossible_geometry_is_refused_with_a_choice(
        long size, int block, int? region, int copies, string advice)
    {
        var error = Assert.Throws<ArgumentException>(() => VolumeGeometry.Create(size, block, region, copies));
        Assert.Contains(advice, error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Largest_volume_has_the_most_regions()
    {
        const long Most = 4096L << 36;
        Assert.Equal(4096, VolumeGeometry.Create(Most, 256 << 10).Regions);
        Assert.NotNull(VolumeGeometry.FaultOf(Most + (256 << 10), 256 << 10, null, 3));
    }
}
