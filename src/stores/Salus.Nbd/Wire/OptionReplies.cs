using System.Buffers;
using System.Buffers.Binary;
using System.Text;

namespace Salus.Nbd.Wire;

/// <summary>Replies to options: magic 8, option 4, kind 4, length 4, data.</summary>
internal static class OptionReplies
{
    private const int HeadSize = 20;

    public static void Ack(IBufferWriter<byte> output, OptionCode option) => Reply(output, option, OptionReply.Ack, []);

    /// <param name="reason">For people.</param>
    public static void Error(IBufferWriter<byte> output, OptionCode option, OptionReply error, string reason) =>
        Reply(output, option, error, Encoding.UTF8.GetBytes(reason));

    /// <summary>Data: length of the name 4, name, description.</summary>
    public static void Export(IBufferWriter<byte> output, OptionCode option, string name, string description)
    {
        var data = new byte[4 + Encoding.UTF8.GetByteCount(name) + Encoding.UTF8.GetByteCount(description)];
        var length = Encoding.UTF8.GetBytes(name, data.AsSpan(4));
        BinaryPrimitives.WriteInt32BigEndian(data, length);
        Encoding.UTF8.GetBytes(description, data.AsSpan(4 + length));
        Reply(output, option, OptionReply.Server, data);
    }

    /// <summary>Data: kind 2, size 8, flags 2.</summary>
    public static void ExportInfo(
        IBufferWriter<byte> output, OptionCode option, long size, TransmissionFlags flags)
    {
        Span<byte> data = stackalloc byte[12];
        BinaryPrimitives.WriteUInt16BigEndian(data, (ushort)InfoKind.Export);
        BinaryPrimitives.WriteInt64BigEndian(data[2..], size);
        BinaryPrimitives.WriteUInt16BigEndian(data[10..], (ushort)flags);
        Reply(output, option, OptionReply.Info, data);
    }

    /// <summary>Data: kind 2, text.</summary>
    public static void TextInfo(IBufferWriter<byte> output, OptionCode option, InfoKind kind, string text)
    {
        var data = new byte[2 + Encoding.UTF8.GetByteCount(text)];
        BinaryPrimitives.WriteUInt16BigEndian(data, (ushort)kind);
        Encoding.UTF8.GetBytes(text, data.AsSpan(2));
        Reply(output, option, OptionReply.Info, data);
    }

    /// <summary>Data: kind 2, least 4, preferred 4, most 4.</summary>
    public static void BlockSizeInfo(IBufferWriter<byte> output, OptionCode option, int preferred, int most)
    {
        Span<byte> data = stackalloc byte[14];
        BinaryPrimitives.WriteUInt16BigEndian(data, (ushort)InfoKind.BlockSize);
        BinaryPrimitives.WriteInt32BigEndian(data[2..], 1);
        BinaryPrimitives.WriteInt32BigEndian(data[6..], preferred);
        BinaryPrimitives.WriteInt32BigEndian(data[10..], most);
        Reply(output, option, OptionReply.Info, data);
    }

    /// <summary>Data: id 4, name.</summary>
    public static void Context(IBufferWriter<byte> output, OptionCode option, uint id, string name)
    {
        var data = new byte[4 + Encoding.UTF8.GetByteCount(name)];
        BinaryPrimitives.WriteUInt32BigEndian(data, id);
        Encoding.UTF8.GetBytes(name, data.AsSpan(4));
        Reply(output, option, OptionReply.MetaContext, data);
    }

    private static void Reply(
        IBufferWriter<byte> output, OptionCode option, OptionReply kind, ReadOnlySpan<byte> data)
    {
        var reply = output.GetSpan(HeadSize + data.Length);
        BinaryPrimitives.WriteUInt64BigEndian(reply, Magic.OptionReply);
        BinaryPrimitives.WriteUInt32BigEndian(reply[8..], (uint)option);
        BinaryPrimitives.WriteUInt32BigEndian(reply[12..], (uint)kind);
        BinaryPrimitives.WriteInt32BigEndian(reply[16..], data.Length);
        data.CopyTo(reply[HeadSize..]);
        output.Advance(HeadSize + data.Length);
    }
}
