using System.Buffers.Binary;

namespace Corfu.FaultRuns.Volumes.Clients;

/// <summary>The content of a block: the number of the write that it is of, and its place, over and over. A block that
/// holds anything else was torn or mixed up.</summary>
public static class BlockText
{
    public const int Size = 4096;

    private const int Word = 16;

    public static void Write(Span<byte> block, long write, long place)
    {
        for (var at = 0; at < block.Length; at += Word)
        {
            BinaryPrimitives.WriteInt64LittleEndian(block[at..], write);
            BinaryPrimitives.WriteInt64LittleEndian(block[(at + 8)..], place);
        }
    }

    /// <returns>The write's number; 0: zeros; null: the block holds something else.</returns>
    public static long? Read(ReadOnlySpan<byte> block, long place)
    {
        var write = BinaryPrimitives.ReadInt64LittleEndian(block);
        if (write == 0) return block.ContainsAnyExcept((byte)0) ? null : 0;
        for (var at = 0; at < block.Length; at += Word)
        {
            if (BinaryPrimitives.ReadInt64LittleEndian(block[at..]) != write
                || BinaryPrimitives.ReadInt64LittleEndian(block[(at + 8)..]) != place) return null;
        }

        return write;
    }
}
