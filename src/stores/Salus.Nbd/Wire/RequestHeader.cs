using System.Buffers;
using System.Buffers.Binary;

namespace Salus.Nbd.Wire;

/// <summary>A command: magic 4, flags 2, code 2, cookie 8, offset 8, length 4.</summary>
internal readonly record struct RequestHeader(
    CommandFlags Flags, CommandCode Code, ulong Cookie, ulong Offset, uint Length)
{
    public const int Size = 28;

    /// <returns>False: the bytes are no command, and the connection's frames are lost.</returns>
    public static bool TryParse(in ReadOnlySequence<byte> bytes, out RequestHeader header)
    {
        Span<byte> span = stackalloc byte[Size];
        bytes.Slice(0, Size).CopyTo(span);

        header = new RequestHeader((CommandFlags)BinaryPrimitives.ReadUInt16BigEndian(span[4..]),
            (CommandCode)BinaryPrimitives.ReadUInt16BigEndian(span[6..]),
            BinaryPrimitives.ReadUInt64BigEndian(span[8..]), BinaryPrimitives.ReadUInt64BigEndian(span[16..]),
            BinaryPrimitives.ReadUInt32BigEndian(span[24..]));
        return BinaryPrimitives.ReadUInt32BigEndian(span) == Magic.Request;
    }
}
