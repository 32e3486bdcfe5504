using System.Buffers.Binary;

namespace Salus.Store.Files;

/// <summary>The place of a block's data.</summary>
/// <param name="Hash">The data's; empty: the block is empty, and has no place.</param>
/// <param name="File">The number of the checkpoint file.</param>
/// <param name="Slot">Counts the blocks of that file.</param>
public readonly record struct BlockPlace(Hash128 Hash, uint File, uint Slot)
{
    public bool IsEmpty => Hash.IsEmpty;
}

/// <summary>A page of a checkpoint's index: the places of 256 blocks. Bytes: hash (16), file (4), slot (4) of
/// each, then the hash of these. The page's hash in the tree covers the blocks' hashes alone: a damaged place would
/// go from file to file.</summary>
public sealed class IndexPage
{
    public const int Blocks = VolumeGeometry.PageBlocks;
    public const int Size = PlacesSize + Hash128.Size;

    private const int PlaceSize = Hash128.Size + 4 + 4;
    private const int PlacesSize = Blocks * PlaceSize;

    /// <summary>All blocks are empty.</summary>
    public static readonly IndexPage Empty = new();

    private readonly BlockPlace[] _places = new BlockPlace[Blocks];

    public BlockPlace this[int block]
    {
        get => _places[block];
        internal set => _places[block] = value;
    }

    /// <summary>The same page of the hash tree.</summary>
    public TreePage ToTree()
    {
        Span<Hash128> hashes = new Hash128[Blocks];
        for (var i = 0; i < Blocks; i++) hashes[i] = _places[i].Hash;
        return new TreePage(hashes);
    }

    public void Write(Span<byte> target)
    {
        for (var i = 0; i < Blocks; i++)
        {
            var at = target[(i * PlaceSize)..];
            _places[i].Hash.Write(at);
            BinaryPrimitives.WriteUInt32LittleEndian(at[Hash128.Size..], _places[i].File);
            BinaryPrimitives.WriteUInt32LittleEndian(at[(Hash128.Size + 4)..], _places[i].Slot);
        }

        Hash128.Of(target[..PlacesSize]).Write(target[PlacesSize..]);
    }

    /// <exception cref="MalformedDataException">The page is damaged.</exception>
    public static IndexPage Read(ReadOnlySpan<byte> source)
    {
        if (source.Length < Size || Hash128.Read(source[PlacesSize..]) != Hash128.Of(source[..PlacesSize]))
            throw new MalformedDataException("An index page is damaged: take its file from a peer.");
        var page = new IndexPage();
        for (var i = 0; i < Blocks; i++)
        {
            var at = source[(i * PlaceSize)..];
            var place = new BlockPlace(Hash128.Read(at), BinaryPrimitives.ReadUInt32LittleEndian(at[Hash128.Size..]),
                BinaryPrimitives.ReadUInt32LittleEndian(at[(Hash128.Size + 4)..]));
            if (place.IsEmpty != (place.File == 0))
                throw new MalformedDataException("A block of an index page has data and no file, or the reverse.");
            page._places[i] = place;
        }

        return page;
    }
}
