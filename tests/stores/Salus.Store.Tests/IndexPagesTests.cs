using Salus.Store.Files;

namespace Salus.Store.Tests;

public sealed class IndexPagesTests
{
    private const int Pages = 6;

    private static readonly RegionKey s_region = new(new VolumeId(new Guid(5, 0, 0, new byte[8])), 3);

    private readonly MemoryRegionFiles _files = new();

    [Fact]
    public async Task Page_is_read_once_while_there_is_room()
    {
        var file = await WriteAsync();
        var pages = new IndexPages(_files, 1 << 20);
        for (var round = 0; round < 3; round++)
        {
            for (var page = 0; page < Pages; page++)
                Assert.Equal((uint)page, (await pages.GetAsync(s_region, file.State.Pages[page]))[7].Slot);
        }

        Assert.Equal((Pages, Pages), (pages.Loads, pages.Count));
        Assert.True((await pages.GetAsync(s_region, default))[0].IsEmpty);
        Assert.Equal(Pages, pages.Loads);
    }

    [Fact]
    public async Task Least_recently_used_page_goes_first()
    {
        var file = await WriteAsync();
        var pages = new IndexPages(_files, 3 * 6500);
        foreach (var page in new[] { 0, 1, 2, 0, 3 }) await pages.GetAsync(s_region, file.State.Pages[page]);
        Assert.Equal((4L, 3), (pages.Loads, pages.Count));
        await pages.GetAsync(s_region, file.State.Pages[0]);
        Assert.Equal(4, pages.Loads);
        await pages.GetAsync(s_region, file.State.Pages[1]);
        Assert.Equal(5, pages.Loads);
    }

    [Fact]
    public async Task Pages_of_a_deleted_file_are_dropped()
    {
        var file = await WriteAsync();
        var pages = new IndexPages(_files, 1 << 20);
        await pages.GetAsync(s_region, file.State.Pages[0]);
        pages.Drop(new RegionFile(s_region, 2));
        pages.Drop(new RegionFile(s_region with { Region = 4 }, 1));
        Assert.Equal(1, pages.Count);
        pages.Drop(new RegionFile(s_region, 1));
        Assert.Equal(0, pages.Count);
    }

    [Fact]
    public async Task Damaged_page_is_not_kept()
    {
        var file = await WriteAsync();
        var pages = new IndexPages(_files, 1 << 20);
        _files.Files[new RegionFile(s_region, 1)][file.State.Pages[2].Offset + (7 * 24)] ^= 1;
        await Assert.ThrowsAsync<MalformedDataException>(
            async () => await pages.GetAsync(s_region, file.State.Pages[2]));
        Assert.Equal(0, pages.Count);
    }

    // A block in each page.
    private ValueTask<CheckpointFile> WriteAsync()
    {
        var task = new CheckpointTask(new RegionFile(s_region, 1), 5, default, default);
        var blocks = Enumerable.Range(0, Pages).Select(page =>
        {
            var data = new byte[4096];
            data[0] = (byte)(page + 1);
            return new BlockContent((page * IndexPage.Blocks) + 7, TreeHash.OfBlock(data), data);
        });
        return new CheckpointWriter(_files).WriteAsync(
            task, CheckpointState.None(s_region, 4096, Pages), blocks.ToAsyncEnumerable());
    }
}
