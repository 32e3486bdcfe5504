using System.Buffers;
using System.Buffers.Binary;
using System.Text;

namespace Corfu.Peers;

/// <summary>Jute's binary form: big-endian numbers; texts and buffers after their length.</summary>
internal static class JuteWriter
{
    public static void Int(this IBufferWriter<byte> writer, int value)
    {
        BinaryPrimitives.WriteInt32BigEndian(writer.GetSpan(sizeof(int)), value);
        writer.Advance(sizeof(int));
    }

    public static void Long(this IBufferWriter<byte> writer, long value)
    {
        BinaryPrimitives.WriteInt64BigEndian(writer.GetSpan(sizeof(long)), value);
        writer.Advance(sizeof(long));
    }

    public static void Bool(this IBufferWriter<byte> writer, bool value)
    {
        writer.GetSpan(1)[0] = value ? (byte)1 : (byte)0;
        writer.Advance(1);
    }

    public static void Bytes(this IBufferWriter<byte> writer, ReadOnlySpan<byte> value)
    {
        writer.Int(value.Length);
        writer.Write(value);
    }

    public static void Text(this IBufferWriter<byte> writer, string value)
    {
        writer.Int(Encoding.UTF8.GetByteCount(value));
        Encoding.UTF8.GetBytes(value, writer);
    }
}
