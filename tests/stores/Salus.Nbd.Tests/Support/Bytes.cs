using System.Buffers.Binary;
using System.Text;

namespace Salus.Nbd.Tests.Support;

/// <summary>Bytes of the protocol, written by hand from its document.</summary>
internal static class Bytes
{
    public static byte[] U16(int value) => [(byte)(value >> 8), (byte)value];

    public static byte[] U32(uint value)
    {
        var bytes = new byte[4];
        BinaryPrimitives.WriteUInt32BigEndian(bytes, value);
        return bytes;
    }

    public static byte[] U64(ulong value)
    {
        var bytes = new byte[8];
        BinaryPrimitives.WriteUInt64BigEndian(bytes, value);
        return bytes;
    }

    /// <summary>The data of INFO and GO.</summary>
    public static byte[] Info(string name, params ReadOnlySpan<ushort> requests)
    {
        byte[] bytes = [.. String(name), .. U16(requests.Length)];
        foreach (var request in requests) bytes = [.. bytes, .. U16(request)];
        return bytes;
    }

    /// <summary>The data of the options of contexts.</summary>
    public static byte[] Contexts(string name, params ReadOnlySpan<string> queries)
    {
        byte[] bytes = [.. String(name), .. U32((uint)queries.Length)];
        foreach (var query in queries) bytes = [.. bytes, .. String(query)];
        return bytes;
    }

    public static byte[] Option(uint option, ReadOnlySpan<byte> data) =>
        [.. "IHAVEOPT"u8, .. U32(option), .. U32((uint)data.Length), .. data];

    public static byte[] Command(
        CommandCode code, ulong offset, uint length, ulong cookie = 1, CommandFlags flags = CommandFlags.None) =>
        [.. U32(0x25609513), .. U16((int)flags), .. U16((int)code), .. U64(cookie), .. U64(offset), .. U32(length)];

    public static byte[] Pattern(int length, int seed)
    {
        var bytes = new byte[length];
        new Random(seed).NextBytes(bytes);
        return bytes;
    }

    private static byte[] String(string text)
    {
        var bytes = Encoding.UTF8.GetBytes(text);
        return [.. U32((uint)bytes.Length), .. bytes];
    }
}
