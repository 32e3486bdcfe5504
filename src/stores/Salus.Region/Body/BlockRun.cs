namespace Salus.Region.Body;

/// <summary>Blocks that stand behind each other in a file, as a write of several blocks leaves them: one
/// read.</summary>
internal static class BlockRun
{
    /// <summary>Whether a place is that many slots behind another one, in the same file.</summary>
    public static bool Follows(in BlockPlace first, int count, in BlockPlace next) =>
        !first.IsEmpty && !next.IsEmpty && next.File == first.File && next.Slot == first.Slot + (uint)count;

    /// <summary>The data of blocks that follow each other, verified. Null: damaged, or not there.</summary>
    /// <param name="first">Within the page.</param>
    public static async ValueTask<byte[]?> ReadAsync(
        IRegionFiles files, CheckpointState state, IndexPage page, int first, int count)
    {
        var place = page[first];
        var file = new RegionFile(state.File.Region, place.File);
        var bytes = new byte[count * state.BlockSize];
        // A single bad transfer is no damage.
        for (var attempt = 0; attempt < 2; attempt++)
        {
            try
            {
                var offset = CheckpointFile.OffsetOf(place.Slot, state.BlockSize);
                if (await files.ReadAsync(file, offset, bytes) == bytes.Length && IsWhole(bytes, page, first, count))
                    return bytes;
            }
            catch (Exception error) when (error is IOException or ObjectDisposedException)
            {
                // Read again.
            }
        }

        return null;
    }

    private static bool IsWhole(byte[] bytes, IndexPage page, int first, int count)
    {
        var size = bytes.Length / count;
        for (var i = 0; i < count; i++)
        {
            if (TreeHash.OfBlock(bytes.AsSpan(i * size, size)) != page[first + i].Hash) return false;
        }

        return true;
    }
}
