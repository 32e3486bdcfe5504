namespace Salus.Store.Files;

/// <summary>A published checkpoint file. Opening it reads its end and its state; index pages and blocks are read on
/// demand, and each is verified against the hash that leads to it.</summary>
public sealed class CheckpointFile
{
    private readonly IRegionFiles _files;
    private readonly CheckpointEnd _end;

    internal CheckpointFile(IRegionFiles files, CheckpointState state, CheckpointEnd end, Hash128 digest)
    {
        _files = files;
        State = state;
        _end = end;
        Name = state.NameWith(digest);
    }

    public CheckpointState State { get; }

    /// <summary>With the digest of the whole file, as its bytes say.</summary>
    public CheckpointName Name { get; }

    /// <summary>Blocks with data in the file.</summary>
    public int Blocks => _end.Blocks;

    /// <summary>The offset at which the data of a block stands.</summary>
    public static long OffsetOf(uint slot, int blockSize) => CheckpointFormat.OffsetOf(slot, blockSize);

    /// <exception cref="MalformedDataException">The file is damaged, cut, or another's.</exception>
    /// <exception cref="IOException">The file is not there, or cannot be read.</exception>
    public static async ValueTask<CheckpointFile> OpenAsync(IRegionFiles files, RegionFile file)
    {
        var length = files.Length(file);
        if (length < CheckpointFormat.BeginSize + CheckpointFormat.EndSize)
            throw new MalformedDataException($"File {file.Number} of {file.Region} is too short for a checkpoint.");
        var bytes = await ReadAsync(files, file, length - CheckpointFormat.EndSize, CheckpointFormat.EndSize);
        var (end, digest) = CheckpointFormat.DecodeEnd(bytes, length);
        var stateBytes = await ReadAsync(files, file, end.StateOffset, end.StateLength);
        if (Hash128.Of(stateBytes) != end.StateHash)
            throw new MalformedDataException($"The page table of file {file.Number} of {file.Region} is damaged.");
        var state = CheckpointState.Decode(stateBytes);
        return state.File == file
            ? new CheckpointFile(files, state, end, digest)
            : throw new MalformedDataException($"File {file.Number} of {file.Region} holds another one.");
    }

    /// <summary>An index page; of an empty one, no file is read.</summary>
    /// <exception cref="MalformedDataException">The page is damaged.</exception>
    public ValueTask<IndexPage> ReadPageAsync(int page)
    {
        var place = State.Pages[page];
        return place.File == 0
            ? ValueTask.FromResult(IndexPage.Empty)
            : ReadPageAsync(_files, State.File.Region, place);
    }

    /// <summary>A block's data.</summary>
    /// <exception cref="MalformedDataException">The data is not what its hash says.</exception>
    public async ValueTask<byte[]> ReadBlockAsync(BlockPlace place)
    {
        var bytes = await ReadAsync(_files, State.File with { Number = place.File },
            CheckpointFormat.OffsetOf(place.Slot, State.BlockSize), State.BlockSize);
        return TreeHash.OfBlock(bytes) == place.Hash
            ? bytes
            : throw new MalformedDataException(
                $"Slot {place.Slot} of file {place.File} of {State.File.Region} is damaged: take it from a peer.");
    }

    /// <summary>The pieces of a MiB whose bytes are not what their hashes say.</summary>
    /// <exception cref="MalformedDataException">The hashes themselves are damaged.</exception>
    public async ValueTask<IReadOnlyList<int>> FindDamageAsync()
    {
        var hashes = await ReadAsync(
            _files, State.File, _end.StateOffset + _end.StateLength, _end.Pieces * Hash128.Size);
        if (Hash128.Of(hashes) != _end.PiecesHash)
            throw new MalformedDataException($"The hashes of file {State.File.Number} are damaged.");
        var damaged = new List<int>();
        for (var piece = 0; piece < _end.Pieces; piece++)
        {
            var from = (long)piece * CheckpointFormat.PieceSize;
            var length = (int)Math.Min(CheckpointFormat.PieceSize, _end.StateOffset + _end.StateLength - from);
            var bytes = await ReadAsync(_files, State.File, from, length);
            if (Hash128.Of(bytes) != Hash128.Read(hashes.AsSpan(piece * Hash128.Size))) damaged.Add(piece);
        }

        return damaged;
    }

    internal static async ValueTask<IndexPage> ReadPageAsync(IRegionFiles files, RegionKey region, PagePlace place)
    {
        var bytes = await ReadAsync(files, new RegionFile(region, place.File), place.Offset, IndexPage.Size);
        var page = IndexPage.Read(bytes);
        return page.ToTree().Hash == place.Hash
            ? page
            : throw new MalformedDataException(
                $"An index page of file {place.File} of {region} is damaged: take it from a peer.");
    }

    private static async ValueTask<byte[]> ReadAsync(IRegionFiles files, RegionFile file, long offset, int length)
    {
        var bytes = new byte[length];
        var read = await files.ReadAsync(file, offset, bytes);
        return read == length
            ? bytes
            : throw new MalformedDataException($"File {file.Number} of {file.Region} ends at {offset + read}.");
    }
}
