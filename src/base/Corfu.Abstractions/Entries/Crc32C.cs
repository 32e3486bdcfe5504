using System.Buffers.Binary;
using System.Numerics;

namespace Corfu;

/// <summary>CRC-32C (Castagnoli) with the usual inversion at both ends.</summary>
public static class Crc32C
{
    public static uint Compute(ReadOnlySpan<byte> data) => ~Append(uint.MaxValue, data);

    /// <summary>CRC over <paramref name="prefix"/> (8 bytes, little-endian) and then the data: binds bytes to the place
    /// they belong.</summary>
    public static uint Compute(long prefix, ReadOnlySpan<byte> data) =>
        ~Append(BitOperations.Crc32C(uint.MaxValue, unchecked((ulong)prefix)), data);

    private static uint Append(uint crc, ReadOnlySpan<byte> data)
    {
        while (data.Length >= 8)
        {
            crc = BitOperations.Crc32C(crc, BinaryPrimitives.ReadUInt64LittleEndian(data));
            data = data[8..];
        }

        foreach (var b in data) crc = BitOperations.Crc32C(crc, b);
        return crc;
    }
}
