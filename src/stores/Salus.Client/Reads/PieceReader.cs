namespace Salus.Reads;

/// <summary>Reads blocks of one page of the tree from the members of their region, verified.</summary>
internal sealed class PieceReader(MemberAsker asker, VolumeId volume, int blockSize)
{
    /// <param name="leaves">The leaves of the blocks, as of the read.</param>
    /// <param name="into">Touched when all is verified; blocks that are empty become zeros.</param>
    /// <returns>False: the region has changed, and the blocks are to be looked at again.</returns>
    public async Task<bool> TryReadAsync(ReadPiece piece, ReadOnlyMemory<Hash128> leaves, Memory<byte> into,
        Func<bool> hasChanged, CancellationToken cancellationToken)
    {
        // Empty blocks at both ends need no answer.
        var (from, end) = (0, leaves.Length);
        while (from < end && leaves.Span[from].IsEmpty) from++;
        while (end > from && leaves.Span[end - 1].IsEmpty) end--;
        if (from == end)
        {
            into.Span.Clear();
            return true;
        }

        var question = new BlocksQuestion(new RegionKey(volume, piece.Range.Region), piece.Range.First + from,
            leaves[from..end], blockSize, piece.Point, hasChanged);
        var answer = await asker.AskAsync(question, cancellationToken);
        if (answer.Response is not { } response) return false;
        var target = into.Span;
        target[..(from * blockSize)].Clear();
        target[(end * blockSize)..].Clear();
        for (var i = from; i < end; i++)
        {
            var data = response.Blocks[i - from].Span;
            if (data.IsEmpty) target.Slice(i * blockSize, blockSize).Clear();
            else data.CopyTo(target.Slice(i * blockSize, blockSize));
        }

        return true;
    }
}
