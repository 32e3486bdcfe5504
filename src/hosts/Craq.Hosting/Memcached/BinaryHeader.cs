using System.Buffers.Binary;

namespace Craq.Hosting.Memcached;

/// <summary>The header of a request: magic (1), opcode (1), length of the key (2), of the extras (1), data type (1),
/// vbucket (2), length of the body (4), opaque (4), version (8). The body is extras, key and value. Numbers are
/// big-endian. Data type and vbucket are not looked at, as in memcached.</summary>
internal readonly record struct BinaryHeader(
    byte Magic, byte Opcode, int KeyLength, int ExtrasLength, uint BodyLength, uint Opaque, ulong Version)
{
    public const int Size = 24;

    /// <summary>The first byte of a request. No command of the text protocol begins with it.</summary>
    public const byte Request = 0x80;

    public const byte Response = 0x81;

    public long ValueLength => (long)BodyLength - ExtrasLength - KeyLength;

    /// <param name="bytes"><see cref="Size"/> bytes.</param>
    public static BinaryHeader Parse(ReadOnlySpan<byte> bytes) => new(bytes[0], bytes[1],
        BinaryPrimitives.ReadUInt16BigEndian(bytes[2..]), bytes[4], BinaryPrimitives.ReadUInt32BigEndian(bytes[8..]),
        BinaryPrimitives.ReadUInt32BigEndian(bytes[12..]), BinaryPrimitives.ReadUInt64BigEndian(bytes[16..]));
}
