using System.Buffers;
using System.Buffers.Binary;

namespace Corfu.Register;

/// <summary>A group of records, written and flushed together: magic (4), body length (4), number within the area (8),
/// CRC-32C (4) of the rest and of the place, zero (4), body. The CRC is bound to generation and offset, so that bytes
/// of an earlier generation never count.</summary>
internal static class LogGroup
{
    public const int HeaderSize = 24;

    private const uint Magic = 0x47504341;
    private const int CrcAt = 16;

    public static byte[] Encode(long generation, long offset, long number, ReadOnlySpan<byte> body)
    {
        var bytes = new byte[HeaderSize + body.Length];
        var span = bytes.AsSpan();
        BinaryPrimitives.WriteUInt32LittleEndian(span, Magic);
        BinaryPrimitives.WriteInt32LittleEndian(span[4..], body.Length);
        BinaryPrimitives.WriteInt64LittleEndian(span[8..], number);
        body.CopyTo(span[HeaderSize..]);
        BinaryPrimitives.WriteUInt32LittleEndian(span[CrcAt..], Crc(generation, offset, span));
        return bytes;
    }

    /// <summary>The group at the offset, if one of this generation is there undamaged.</summary>
    public static bool TryRead(
        ReadOnlyMemory<byte> area, long generation, long offset, out long number, out ReadOnlyMemory<byte> body)
    {
        number = 0;
        body = default;
        if (area.Length - offset < HeaderSize) return false;
        var rest = area[(int)offset..];
        var span = rest.Span;
        if (BinaryPrimitives.ReadUInt32LittleEndian(span) != Magic) return false;
        var length = BinaryPrimitives.ReadInt32LittleEndian(span[4..]);
        if (length < 0 || length > rest.Length - HeaderSize) return false;
        var crc = Crc(generation, offset, span[..(HeaderSize + length)]);
        if (BinaryPrimitives.ReadUInt32LittleEndian(span[CrcAt..]) != crc) return false;
        number = BinaryPrimitives.ReadInt64LittleEndian(span[8..]);
        body = rest.Slice(HeaderSize, length);
        return true;
    }

    private static uint Crc(long generation, long offset, ReadOnlySpan<byte> group)
    {
        var rented = ArrayPool<byte>.Shared.Rent(group.Length + 8);
        var covered = rented.AsSpan(0, group.Length + 8);
        BinaryPrimitives.WriteInt64LittleEndian(covered, offset);
        group.CopyTo(covered[8..]);
        covered.Slice(8 + CrcAt, 4).Clear();
        var crc = Crc32C.Compute(generation, covered);
        ArrayPool<byte>.Shared.Return(rented);
        return crc;
    }
}
