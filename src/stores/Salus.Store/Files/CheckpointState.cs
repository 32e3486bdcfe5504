using System.Buffers;

namespace Salus.Store.Files;

/// <summary>The place of an index page.</summary>
/// <param name="Hash">The page's in the hash tree; empty: all its blocks are, and it has no place.</param>
public readonly record struct PagePlace(Hash128 Hash, uint File, long Offset);

/// <summary>A file that a checkpoint refers to.</summary>
/// <param name="Blocks">Blocks of it that the checkpoint has.</param>
/// <param name="Pages">Index pages of it that the checkpoint has.</param>
public readonly record struct FileUse(uint File, int Blocks, int Pages);

/// <summary>A region as of one index of its log, as its newest checkpoint file says: the page table, and all files that
/// the blocks and pages are in. Equal at all members.</summary>
/// <param name="Index">The region's log is in it up to here.</param>
/// <param name="Chain">The log's chain up to there.</param>
/// <param name="Batch">The region's last batch in it.</param>
/// <param name="Pages">The page table.</param>
/// <param name="Files">Ascending.</param>
public sealed record CheckpointState(RegionFile File, int BlockSize, long Index, Hash128 Chain, BatchName Batch,
    ImmutableArray<PagePlace> Pages, ImmutableArray<FileUse> Files)
{
    public const int MaxFiles = 4096;

    private const int MaxPages = VolumeGeometry.MaxRegionBlocks / VolumeGeometry.PageBlocks;
    private const int PageSize = Hash128.Size + 4 + 8;
    private const int UseSize = 4 + 4 + 4;

    /// <summary>The region before its first checkpoint.</summary>
    public static CheckpointState None(RegionKey region, int blockSize, int pages) =>
        new(new RegionFile(region, 0), blockSize, 0, default, default, [.. new PagePlace[pages]], []);

    /// <summary>The hash tree, without leaves.</summary>
    public RegionTree ToTree()
    {
        Span<Hash128> hashes = new Hash128[Pages.Length];
        for (var i = 0; i < Pages.Length; i++) hashes[i] = Pages[i].Hash;
        return RegionTree.FromPages(hashes);
    }

    public CheckpointName NameWith(Hash128 digest) =>
        new(File.Number, Index, Batch.Run, Batch.Number, ToTree().Root, digest);

    public byte[] Encode()
    {
        var buffer = new ArrayBufferWriter<byte>(256 + Pages.Length * PageSize + Files.Length * UseSize);
        var w = new WireWriter(buffer);
        w.Region(File.Region);
        w.Int64(File.Number);
        w.Int32(BlockSize);
        w.Int64(Index);
        w.Hash(Chain);
        Batch.Write(ref w);
        w.Array(Pages, static (ref w, page) =>
        {
            w.Hash(page.Hash);
            w.UInt32(page.File);
            w.Int64(page.Offset);
        });
        w.Array(Files, static (ref w, use) =>
        {
            w.UInt32(use.File);
            w.Int32(use.Blocks);
            w.Int32(use.Pages);
        });
        w.Flush();
        return buffer.WrittenSpan.ToArray();
    }

    /// <exception cref="MalformedDataException">The bytes are no state.</exception>
    public static CheckpointState Decode(ReadOnlyMemory<byte> bytes)
    {
        var r = new WireReader(bytes);
        var state = new CheckpointState(new RegionFile(r.Region(), r.Number()), r.Int32(), r.Number(), r.Hash(),
            BatchName.Read(ref r),
            r.Array(PageSize, static (ref r) => new PagePlace(r.Hash(), r.UInt32(), r.Number()), MaxPages),
            r.Array(UseSize, static (ref r) => new FileUse(r.UInt32(), r.Int32(), r.Int32()), MaxFiles));
        r.End();
        state.Check();
        return state;
    }

    private void Check()
    {
        if (Pages.IsEmpty || File.Number is <= 0 or > uint.MaxValue)
            throw new MalformedDataException("A checkpoint has no page or no number.");
        var before = 0u;
        foreach (var use in Files)
        {
            if (use.File <= before || use.File > File.Number || use.Blocks < 0 || use.Pages < 0)
                throw new MalformedDataException("The files of a checkpoint are not ascending, or not before it.");
            before = use.File;
        }

        foreach (var page in Pages)
        {
            if (page.Hash.IsEmpty != (page.File == 0))
                throw new MalformedDataException("A page has data and no file, or the reverse.");
        }
    }
}
