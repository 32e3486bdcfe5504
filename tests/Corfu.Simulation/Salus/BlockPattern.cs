using static System.Buffers.Binary.BinaryPrimitives;

namespace Corfu.Simulation.Salus;

/// <summary>The bytes of a block that holds a number. Each byte depends on the number and on the block.</summary>
internal static class BlockPattern
{
    public static void Write(Span<byte> block, int number, long value)
    {
        var state = Begin(number, value);
        for (var at = 0; at < block.Length; at += 8)
        {
            WriteUInt64LittleEndian(block[at..], state);
            state = Next(state);
        }

        WriteInt64LittleEndian(block, value);
    }

    /// <summary>The number; <see cref="VolumeHistory.Garbage"/>: none was written there so.</summary>
    public static long Read(ReadOnlySpan<byte> block, int number)
    {
        if (!block.ContainsAnyExcept((byte)0)) return 0;
        var value = ReadInt64LittleEndian(block);
        var state = Begin(number, value);
        for (var at = 8; at < block.Length; at += 8)
        {
            state = Next(state);
            if (ReadUInt64LittleEndian(block[at..]) != state) return VolumeHistory.Garbage;
        }

        return value;
    }

    private static ulong Begin(int number, long value) =>
        ((ulong)value * 0x9E3779B97F4A7C15UL) ^ ((ulong)(number + 1) * 0xD6E8FEB86659FD93UL);

    private static ulong Next(ulong state) => (state * 0x5851F42D4C957F2DUL) + 0x14057B7EF767814FUL;
}
