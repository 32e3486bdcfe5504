using System.Buffers;
using System.Buffers.Binary;
using System.Text;

namespace Tango.Tests;

/// <summary>A plain encoding for the hand-written sample object.</summary>
internal static class Wire
{
    public static void WriteInt64(IBufferWriter<byte> writer, long value)
    {
        BinaryPrimitives.WriteInt64BigEndian(writer.GetSpan(8), value);
        writer.Advance(8);
    }

    public static void WriteString(IBufferWriter<byte> writer, string value)
    {
        WriteInt64(writer, Encoding.UTF8.GetByteCount(value));
        writer.Write(Encoding.UTF8.GetBytes(value));
    }

    public static long ReadInt64(ref ReadOnlyMemory<byte> source)
    {
        var value = BinaryPrimitives.ReadInt64BigEndian(source.Span);
        source = source[8..];
        return value;
    }

    public static string ReadString(ref ReadOnlyMemory<byte> source)
    {
        var length = (int)ReadInt64(ref source);
        var value = Encoding.UTF8.GetString(source.Span[..length]);
        source = source[length..];
        return value;
    }
}
