namespace Salus.Writes;

/// <summary>A region's part of a batch that has no number yet.</summary>
/// <param name="Buffer">Room for the head, then the payload.</param>
internal sealed record PartDraft(int Region, int BlockSize, ImmutableArray<BlockWrite> Writes,
    ImmutableArray<ZeroRange> Zeros, byte[] Buffer, int Room)
{
    // The fields of header and sub-batch that are always there, and what may grow in a later format.
    private const int FixedHead = 256;
    private const int ParticipantSize = 4 + 8 + Hash128.Size;
    private const int WriteSize = 4 + Hash128.Size;
    private const int ZeroSize = 8;

    public ReadOnlyMemory<byte> Payload => Buffer.AsMemory(Room);

    public static int RoomFor(int participants, int writes, int zeros) =>
        FixedHead + (participants * ParticipantSize) + (writes * WriteSize) + (zeros * ZeroSize);

    public BatchPart Number(Batch batch, BatchHeader header, WeakSignature signature)
    {
        var head = new SubBatch(header, signature, Region, BlockSize, Writes, Zeros, default).EncodeHead();
        head.CopyTo(Buffer, Room - head.Length);
        return new BatchPart(batch, Region, Writes, Payload, Buffer.AsMemory(Room - head.Length));
    }
}
