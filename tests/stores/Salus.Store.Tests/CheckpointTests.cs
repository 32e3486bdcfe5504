using Salus.Store.Files;
using Salus.Store.Shell;

namespace Salus.Store.Tests;

/// <summary>Checkpoint files against a model of the region: every block, the root and what is used of each
/// file.</summary>
public sealed class CheckpointTests : IDisposable
{
    private const int BlockSize = 4096;
    private const int Pages = 4;
    private const int Blocks = Pages * IndexPage.Blocks;

    private static readonly RegionKey s_region = new(new VolumeId(new Guid(5, 0, 0, new byte[8])), 3);

    private readonly string _folder = Directory.CreateTempSubdirectory("salus-files-").FullName;

    public void Dispose() => Directory.Delete(_folder, true);

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public async Task Checkpoints_hold_the_region_and_are_equal_at_two_members(int seed)
    {
        var random = new Random(seed);
        using var directory = new DirectoryRegionFiles(_folder);
        IRegionFiles[] members = [new MemoryRegionFiles(), directory];
        var model = new byte[]?[Blocks];
        var states = members.Select(_ => CheckpointState.None(s_region, BlockSize, Pages)).ToArray();
        for (var number = 1; number <= 6; number++)
        {
            var changes = Change(model, random);
            for (var member = 0; member < members.Length; member++)
                states[member] = (await WriteAsync(members[member], states[member], number, changes)).State;
            var file = new RegionFile(s_region, number);
            Assert.Equal(await BytesAsync(members[0], file), await BytesAsync(members[1], file));
            var opened = await CheckpointFile.OpenAsync(members[1], file);
            await CheckAsync(opened, model);
            Assert.Empty(await opened.FindDamageAsync());
        }
    }

    [Fact]
    public async Task File_has_the_recorded_digest()
    {
        var model = new byte[]?[Blocks];
        var file = await WriteAsync(new MemoryRegionFiles(), CheckpointState.None(s_region, BlockSize, Pages), 1,
            Change(model, new Random(42)));
        Assert.Equal("72c8a95d886b0843037642bcbc82af9c", file.Name.Digest.ToString());
    }

    [Fact]
    public async Task Flipped_bit_anywhere_is_found()
    {
        var files = new MemoryRegionFiles();
        var model = new byte[]?[Blocks];
        await WriteAsync(files, CheckpointState.None(s_region, BlockSize, Pages), 1, Change(model, new Random(1)));
        var file = new RegionFile(s_region, 1);
        var bytes = files.Files[file];
        var random = new Random(2);
        for (var i = 0; i < 300; i++)
        {
            // The end and the hashes are short: half of the flips go there.
            var at = i % 2 == 0 ? random.Next(bytes.Length) : bytes.Length - 1 - random.Next(2000);
            bytes[at] ^= 0x20;
            Assert.True(await IsDamagedAsync(files, file), $"byte {at} of {bytes.Length}");
            bytes[at] ^= 0x20;
        }

        Assert.False(await IsDamagedAsync(files, file));
    }

    [Fact]
    public async Task Cut_or_foreign_file_is_refused()
    {
        var files = new MemoryRegionFiles();
        var model = new byte[]?[Blocks];
        await WriteAsync(files, CheckpointState.None(s_region, BlockSize, Pages), 1, Change(model, new Random(1)));
        var (file, other) = (new RegionFile(s_region, 1), new RegionFile(s_region, 2));
        var bytes = files.Files[file];
        foreach (var length in new[] { 0, 80, 5000, bytes.Length - 1 })
        {
            files.Files[file] = bytes[..length];
            await Assert.ThrowsAsync<MalformedDataException>(async () => await CheckpointFile.OpenAsync(files, file));
        }

        files.Files[other] = bytes;
        await Assert.ThrowsAsync<MalformedDataException>(async () => await CheckpointFile.OpenAsync(files, other));
    }

    [Fact]
    public async Task Damaged_block_is_no_answer_and_no_input()
    {
        var files = new MemoryRegionFiles();
        var block = new BlockContent(7, TreeHash.OfBlock(new byte[BlockSize]), new byte[BlockSize]);
        var first = await WriteAsync(files, CheckpointState.None(s_region, BlockSize, Pages), 1, [block]);
        files.Files[new RegionFile(s_region, 1)][4096 + 99] ^= 1;
        var place = (await first.ReadPageAsync(0))[7];
        await Assert.ThrowsAsync<MalformedDataException>(async () => await first.ReadBlockAsync(place));
        var wrong = block with { Block = 8, Hash = TreeHash.OfBlock([1]) };
        await Assert.ThrowsAsync<MalformedDataException>(async () => await WriteAsync(files, first.State, 2, [wrong]));
        Assert.DoesNotContain(new RegionFile(s_region, 2), files.List());
    }

    [Fact]
    public async Task Moved_blocks_leave_an_unused_file_and_the_same_root()
    {
        var files = new MemoryRegionFiles();
        var model = new byte[]?[Blocks];
        var random = new Random(4);
        var state = CheckpointState.None(s_region, BlockSize, Pages);
        var file = await WriteAsync(files, state, 1, Change(model, random));
        for (var number = 2; number <= 3; number++)
            file = await WriteAsync(files, file.State, number, Change(model, random));
        var moved = new List<BlockContent>();
        for (var block = 0; block < Blocks; block++)
        {
            var place = (await file.ReadPageAsync(block / IndexPage.Blocks))[block % IndexPage.Blocks];
            if (place.File is 1 or 2)
                moved.Add(new BlockContent(block, place.Hash, await file.ReadBlockAsync(place)));
        }

        var compacted = await WriteAsync(files, file.State, 4, moved);
        Assert.Equal(file.Name.Root, compacted.Name.Root);
        Assert.DoesNotContain(compacted.State.Files, use => use.File is 1 or 2);
        var book = new FileBook();
        book.Keep(file.State);
        book.Keep(compacted.State);
        Assert.Empty(book.Unneeded([1, 2, 3, 4]));
        book.Release(3);
        Assert.Equal([1L, 2L], book.Unneeded([1, 2, 3, 4, 5]));
        files.Delete(new RegionFile(s_region, 1));
        files.Delete(new RegionFile(s_region, 2));
        await CheckAsync(await CheckpointFile.OpenAsync(files, new RegionFile(s_region, 4)), model);
    }

    [Fact]
    public async Task Emptied_region_uses_no_file()
    {
        var files = new MemoryRegionFiles();
        var model = new byte[]?[Blocks];
        var file = await WriteAsync(files, CheckpointState.None(s_region, BlockSize, Pages), 1,
            Change(model, new Random(1)));
        var emptied = await WriteAsync(files, file.State, 2,
            Enumerable.Range(0, Blocks).Select(block => new BlockContent(block, default, default)));
        Assert.True(emptied.Name.Root.IsEmpty);
        Assert.Empty(emptied.State.Files);
    }

    [Fact]
    public void Rest_of_an_unpublished_file_is_no_file()
    {
        using var files = new DirectoryRegionFiles(_folder);
        var file = new RegionFile(s_region, 1);
        using (var writer = files.Create(file)) writer.Write(new byte[100]);
        Assert.Empty(Directory.GetFiles(_folder, "*", SearchOption.AllDirectories));
        files.Create(file).Write(new byte[100]);
        Assert.Empty(files.List());
        Assert.Single(Directory.GetFiles(_folder, "*", SearchOption.AllDirectories));
        using var restarted = new DirectoryRegionFiles(_folder);
        Assert.Empty(restarted.List());
        Assert.Empty(Directory.GetFiles(_folder, "*", SearchOption.AllDirectories));
    }

    [Fact]
    public async Task More_files_than_may_be_open_are_read()
    {
        using var files = new DirectoryRegionFiles(_folder, mostOpen: 2);
        for (var number = 1; number <= 8; number++)
        {
            using var writer = files.Create(new RegionFile(s_region, number));
            writer.Write([(byte)number]);
            await writer.PublishAsync();
        }

        for (var read = 0; read < 40; read++)
        {
            var file = new RegionFile(s_region, 1 + read * 3 % 8);
            var buffer = new byte[2];
            Assert.Equal(1, await files.ReadAsync(file, 0, buffer));
            Assert.Equal((byte)file.Number, buffer[0]);
        }
    }

    [Fact]
    public async Task Deleted_file_is_gone()
    {
        using var files = new DirectoryRegionFiles(_folder);
        var file = new RegionFile(s_region, 1);
        using (var writer = files.Create(file))
        {
            writer.Write(new byte[100]);
            await writer.PublishAsync();
        }

        Assert.Equal((100, file), (files.Length(file), Assert.Single(files.List())));
        files.Delete(file);
        files.Delete(file);
        Assert.Empty(files.List());
        await Assert.ThrowsAnyAsync<IOException>(async () => await files.ReadAsync(file, 0, new byte[1]));
    }

    // Some blocks get data, some become empty; the model changes with them.
    private static List<BlockContent> Change(byte[]?[] model, Random random)
    {
        var changes = new List<BlockContent>();
        for (var block = random.Next(3); block < Blocks; block += random.Next(1, 60))
        {
            var data = new byte[BlockSize];
            random.NextBytes(data);
            model[block] = random.Next(5) == 0 ? null : data;
            changes.Add(model[block] is null
                ? new BlockContent(block, default, default)
                : new BlockContent(block, TreeHash.OfBlock(data), data));
        }

        return changes;
    }

    private static ValueTask<CheckpointFile> WriteAsync(
        IRegionFiles files, CheckpointState before, long number, IEnumerable<BlockContent> changes)
    {
        var task = new CheckpointTask(new RegionFile(s_region, number), 10 * number, new Hash128((UInt128)number),
            new BatchName(1, 9 * number, new Hash128(7)));
        return new CheckpointWriter(files).WriteAsync(task, before, changes.ToAsyncEnumerable());
    }

    private static async Task CheckAsync(CheckpointFile file, byte[]?[] model)
    {
        var tree = new RegionTree(Pages);
        tree.Apply(
            [
                .. model.Index().Where(block => block.Item is not null)
                    .Select(block => new BlockWrite(block.Index, TreeHash.OfBlock(block.Item))),
            ],
            []);
        Assert.Equal(tree.Root, file.Name.Root);
        var used = new SortedDictionary<uint, int>();
        for (var block = 0; block < Blocks; block++)
        {
            var place = (await file.ReadPageAsync(block / IndexPage.Blocks))[block % IndexPage.Blocks];
            Assert.Equal(model[block] is null, place.IsEmpty);
            if (place.IsEmpty) continue;
            Assert.Equal(model[block], await file.ReadBlockAsync(place));
            used[place.File] = used.GetValueOrDefault(place.File) + 1;
        }

        Assert.Equal(used, file.State.Files.Where(use => use.Blocks > 0).ToDictionary(use => use.File, u => u.Blocks));
        Assert.Equal(file.State.Pages.Where(page => page.File > 0).CountBy(page => page.File).OrderBy(p => p.Key),
            file.State.Files.Where(use => use.Pages > 0).Select(use => KeyValuePair.Create(use.File, use.Pages)));
    }

    private static async Task<bool> IsDamagedAsync(IRegionFiles files, RegionFile file)
    {
        try
        {
            return (await (await CheckpointFile.OpenAsync(files, file)).FindDamageAsync()).Count > 0;
        }
        catch (MalformedDataException)
        {
            return true;
        }
    }

    private static async Task<byte[]> BytesAsync(IRegionFiles files, RegionFile file)
    {
        var bytes = new byte[files.Length(file)];
        Assert.Equal(bytes.Length, await files.ReadAsync(file, 0, bytes));
        return bytes;
    }
}
