using Salus.Store.Files;

namespace Salus.Store.Tests;

/// <summary>Files that come from elsewhere are whole, or refused.</summary>
public sealed class CheckpointCheckTests
{
    private static readonly RegionKey s_region = new(new VolumeId(new Guid(5, 0, 0, new byte[8])), 3);

    [Theory]
    [InlineData(1)]
    [InlineData(254)]
    [InlineData(255)]
    [InlineData(256)]
    [InlineData(700)]
    public async Task File_is_whole_and_no_other_one(int blocks)
    {
        var (bytes, digest) = await FileAsync(blocks);
        Assert.True(IsWhole(bytes, digest));
        Assert.False(IsWhole(bytes, new Hash128(1)));
        Assert.False(IsWhole(bytes[..^1], digest));
        Assert.False(IsWhole(bytes[..100], digest));
        Assert.False(IsWhole([], digest));
        var random = new Random(blocks);
        for (var i = 0; i < 40; i++)
        {
            var at = i % 2 == 0 ? random.Next(bytes.Length) : bytes.Length - 1 - random.Next(400);
            bytes[at] ^= 4;
            Assert.False(IsWhole(bytes, digest), $"byte {at} of {bytes.Length}");
            bytes[at] ^= 4;
        }
    }

    [Fact]
    public async Task File_that_ends_early_is_not_whole()
    {
        var (bytes, digest) = await FileAsync(600);
        var check = new CheckpointCheck(bytes.Length);
        check.Add(bytes.AsSpan(0, check.Next));
        Assert.False(check.IsWhole(digest));
        Assert.Throws<ArgumentOutOfRangeException>(() => check.Add(new byte[3]));
    }

    private static bool IsWhole(byte[] bytes, Hash128 digest)
    {
        var check = new CheckpointCheck(bytes.Length);
        while (check.Next > 0) check.Add(bytes.AsSpan((int)check.Offset, check.Next));
        return check.IsWhole(digest);
    }

    private static async Task<(byte[] Bytes, Hash128 Digest)> FileAsync(int blocks)
    {
        var files = new MemoryRegionFiles();
        var data = new byte[4096];
        new Random(blocks).NextBytes(data);
        var hash = TreeHash.OfBlock(data);
        var task = new CheckpointTask(new RegionFile(s_region, 1), 5, default, default);
        var file = await new CheckpointWriter(files).WriteAsync(task, CheckpointState.None(s_region, 4096, 4),
            Enumerable.Range(0, blocks).Select(block => new BlockContent(block, hash, data)).ToAsyncEnumerable());
        return (files.Files[task.File], file.Name.Digest);
    }
}
