using Salus.Nbd.Writes;

namespace Salus.Nbd.Tests.Writes;

public sealed class RecentBlocksTests
{
    private readonly RecentBlocks _recent = new(blockSize: 4, capacity: 3);

    private byte[]? Read(long block)
    {
        var target = new byte[] { 9, 9, 9, 9 };
        return _recent.TryMerge(block, new Edge(block, 1, 2, target)) ? target : null;
    }

    [Fact]
    public void Merge_keeps_both_ends_of_the_cached_block()
    {
        _recent.Put(1, [1, 2, 3, 4]);
        Assert.Equal([1, 9, 3, 4], Read(1));
        Assert.Null(Read(2));
    }

    [Fact]
    public void Newest_content_replaces_the_older()
    {
        _recent.Put(1, [1, 2, 3, 4]);
        _recent.Put(1, [5, 6, 7, 8]);
        Assert.Equal([5, 9, 7, 8], Read(1));
    }

    [Fact]
    public void Block_that_was_used_longest_ago_makes_room()
    {
        for (byte block = 0; block < 3; block++) _recent.Put(block, [block, 0, 0, 0]);
        Read(0);
        _recent.Put(7, [7, 0, 0, 0]);
        Assert.Null(Read(1));
        Assert.Equal([0, 9, 0, 0], Read(0));
        Assert.Equal([2, 9, 0, 0], Read(2));
        Assert.Equal([7, 9, 0, 0], Read(7));
    }

    [Theory]
    [InlineData(1, 1, "0 2")]
    [InlineData(0, 3, "")]
    [InlineData(2, 1000, "0 1")]
    [InlineData(3, 1000, "0 1 2")]
    [InlineData(1, long.MaxValue - 1, "0")]
    public void Removed_range_is_cached_no_more(long first, long blocks, string left)
    {
        for (byte block = 0; block < 3; block++) _recent.Put(block, [block, 0, 0, 0]);
        _recent.Remove(first, blocks);
        Assert.Equal(left, string.Join(' ', Enumerable.Range(0, 3).Where(block => Read(block) is not null)));
    }

    [Fact]
    public void Cleared_cache_is_empty_and_takes_blocks_again()
    {
        for (byte block = 0; block < 3; block++) _recent.Put(block, [block, 0, 0, 0]);
        _recent.Clear();
        Assert.Null(Read(0));
        for (byte block = 0; block < 4; block++) _recent.Put(block, [block, 0, 0, 0]);
        Assert.Null(Read(0));
        Assert.Equal([3, 9, 0, 0], Read(3));
    }
}
