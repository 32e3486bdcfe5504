using System.Buffers.Binary;
using System.Text;

namespace Craq.Hosting.Tests.Memcached;

/// <summary>Requests of the binary protocol as a client writes them, byte by byte.</summary>
internal static class BinaryFrame
{
    public const uint Opaque = 0xdeadbeef;

    public static byte[] Of(byte opcode, string key = "", byte[]? extras = null, byte[]? value = null,
        long version = 0, uint opaque = Opaque)
    {
        byte[] body = [.. extras ?? [], .. Encoding.Latin1.GetBytes(key), .. value ?? []];
        var frame = Header(opcode, key.Length, extras?.Length ?? 0, (uint)body.Length, opaque);
        BinaryPrimitives.WriteInt64BigEndian(frame.AsSpan(16), version);
        return [.. frame, .. body];
    }

    public static byte[] Header(
        byte opcode, int keyLength, int extrasLength, uint bodyLength, uint opaque = Opaque, byte magic = 0x80)
    {
        var header = new byte[24];
        (header[0], header[1], header[4]) = (magic, opcode, (byte)extrasLength);
        BinaryPrimitives.WriteUInt16BigEndian(header.AsSpan(2), (ushort)keyLength);
        BinaryPrimitives.WriteUInt32BigEndian(header.AsSpan(8), bodyLength);
        BinaryPrimitives.WriteUInt32BigEndian(header.AsSpan(12), opaque);
        return header;
    }

    public static byte[] Store(byte opcode, string key, string value, uint flags = 0, uint exptime = 0,
        long version = 0) =>
        Of(opcode, key, [.. Number(flags), .. Number(exptime)], Encoding.Latin1.GetBytes(value), version);

    public static byte[] Count(byte opcode, string key, ulong delta, ulong initial, uint exptime, long version = 0) =>
        Of(opcode, key, [.. Number(delta), .. Number(initial), .. Number(exptime)], version: version);

    public static byte[] Number(uint number)
    {
        var bytes = new byte[4];
        BinaryPrimitives.WriteUInt32BigEndian(bytes, number);
        return bytes;
    }

    private static byte[] Number(ulong number)
    {
        var bytes = new byte[8];
        BinaryPrimitives.WriteUInt64BigEndian(bytes, number);
        return bytes;
    }
}
