namespace Salus.Writes;

/// <summary>A region's part of a batch, with the bytes that are sent, and sent again.</summary>
/// <param name="bytes">An encoded <see cref="SubBatch"/>.</param>
internal sealed class BatchPart(
    Batch batch, int region, ImmutableArray<BlockWrite> writes, ReadOnlyMemory<byte> payload,
    ReadOnlyMemory<byte> bytes)
{
    public Batch Batch => batch;

    public int Region => region;

    public ReadOnlyMemory<byte> Bytes => bytes;

    /// <summary>The generation of the region that has the part: prepared, or from an earlier generation's log. Guarded
    /// by the driver's gate.</summary>
    public Epoch? HeldBy { get; set; }

    /// <summary>A loop sends the part. Guarded by the driver's gate.</summary>
    public bool IsSending { get; set; }

    /// <summary>The data that the part gives a block; empty: the block becomes empty.</summary>
    public ReadOnlyMemory<byte> DataOf(int block, int blockSize)
    {
        var (low, high) = (0, writes.Length - 1);
        while (low <= high)
        {
            var middle = (low + high) / 2;
            if (writes[middle].Block == block) return payload.Slice(middle * blockSize, blockSize);
            if (writes[middle].Block < block) low = middle + 1;
            else high = middle - 1;
        }

        return default;
    }
}
