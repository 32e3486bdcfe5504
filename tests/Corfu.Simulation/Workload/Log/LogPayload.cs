using System.Buffers.Binary;

namespace Corfu.Simulation.Workload.Log;

/// <summary>The bytes of an entry: a mark that a scan recognizes, a number that no other entry has, and padding that
/// follows from the number.</summary>
internal static class LogPayload
{
    private const ulong Magic = 0xC0FF_EE00_5EED_0000;

    public static byte[] Of(long id, int padding)
    {
        byte[] payload = new byte[16 + padding];
        BinaryPrimitives.WriteUInt64LittleEndian(payload, Magic);
        BinaryPrimitives.WriteInt64LittleEndian(payload.AsSpan(8), id);
        for (int i = 16; i < payload.Length; i++) payload[i] = (byte)((id * 31) + (i * 7));
        return payload;
    }

    /// <summary>The number that the payload carries; -1 where the bytes are not what was appended.</summary>
    public static long NumberOf(ReadOnlySpan<byte> payload)
    {
        if (payload.Length < 16 || BinaryPrimitives.ReadUInt64LittleEndian(payload) != Magic) return -1;
        long id = BinaryPrimitives.ReadInt64LittleEndian(payload[8..]);
        for (int i = 16; i < payload.Length; i++)
        {
            if (payload[i] != (byte)((id * 31) + (i * 7))) return -1;
        }

        return id;
    }
}
