using System.Buffers;
using System.Buffers.Binary;
using System.Text;

namespace Salus.Nbd.Wire;

/// <summary>Heads of replies to commands. What follows a head is written by the caller.</summary>
internal static class Replies
{
    /// <summary>Simple reply: magic 4, error 4, cookie 8.</summary>
    public const int SimpleSize = 16;

    /// <summary>Chunk: magic 4, flags 2, kind 2, cookie 8, length 4.</summary>
    public const int ChunkSize = 20;

    // The protocol's limit of a string.
    private const int MaxMessage = 4096;

    public static void Simple(IBufferWriter<byte> output, ulong cookie, NbdError error)
    {
        var head = output.GetSpan(SimpleSize);
        BinaryPrimitives.WriteUInt32BigEndian(head, Magic.SimpleReply);
        BinaryPrimitives.WriteUInt32BigEndian(head[4..], (uint)error);
        BinaryPrimitives.WriteUInt64BigEndian(head[8..], cookie);
        output.Advance(SimpleSize);
    }

    /// <summary>Payload: offset 8, then the data.</summary>
    public static void Data(IBufferWriter<byte> output, ulong cookie, bool isLast, ulong offset, int length)
    {
        var chunk = output.GetSpan(ChunkSize + 8);
        Head(chunk, cookie, ChunkKind.OffsetData, isLast, 8u + (uint)length);
        BinaryPrimitives.WriteUInt64BigEndian(chunk[ChunkSize..], offset);
        output.Advance(ChunkSize + 8);
    }

    /// <summary>Payload: offset 8, length 4.</summary>
    public static void Hole(IBufferWriter<byte> output, ulong cookie, bool isLast, ulong offset, uint length)
    {
        var chunk = output.GetSpan(ChunkSize + 12);
        Head(chunk, cookie, ChunkKind.OffsetHole, isLast, 12);
        BinaryPrimitives.WriteUInt64BigEndian(chunk[ChunkSize..], offset);
        BinaryPrimitives.WriteUInt32BigEndian(chunk[(ChunkSize + 8)..], length);
        output.Advance(ChunkSize + 12);
    }

    /// <summary>Payload: context 4, then for each descriptor length 4, status 4.</summary>
    public static void BlockStatus(IBufferWriter<byte> output, ulong cookie, uint context, int descriptors)
    {
        var chunk = output.GetSpan(ChunkSize + 4);
        Head(chunk, cookie, ChunkKind.BlockStatus, isLast: true, 4u + 8u * (uint)descriptors);
        BinaryPrimitives.WriteUInt32BigEndian(chunk[ChunkSize..], context);
        output.Advance(ChunkSize + 4);
    }

    public static void Descriptor(IBufferWriter<byte> output, uint length, uint status)
    {
        var descriptor = output.GetSpan(8);
        BinaryPrimitives.WriteUInt32BigEndian(descriptor, length);
        BinaryPrimitives.WriteUInt32BigEndian(descriptor[4..], status);
        output.Advance(8);
    }

    /// <summary>Payload: error 4, length of the message 2, message, and the offset 8 if there is one.</summary>
    public static void Error(
        IBufferWriter<byte> output, ulong cookie, NbdError error, string? message, ulong? offset)
    {
        ReadOnlySpan<byte> text = Encoding.UTF8.GetBytes(message ?? "");
        if (text.Length > MaxMessage) text = text[..MaxMessage];
        var payload = 6 + text.Length + (offset is null ? 0 : 8);
        var chunk = output.GetSpan(ChunkSize + payload);
        Head(chunk, cookie, offset is null ? ChunkKind.Error : ChunkKind.ErrorOffset, isLast: true, (uint)payload);
        BinaryPrimitives.WriteUInt32BigEndian(chunk[ChunkSize..], (uint)error);
        BinaryPrimitives.WriteUInt16BigEndian(chunk[(ChunkSize + 4)..], (ushort)text.Length);
        text.CopyTo(chunk[(ChunkSize + 6)..]);
        if (offset is { } at) BinaryPrimitives.WriteUInt64BigEndian(chunk[(ChunkSize + 6 + text.Length)..], at);
        output.Advance(ChunkSize + payload);
    }

    private static void Head(Span<byte> chunk, ulong cookie, ChunkKind kind, bool isLast, uint payload)
    {
        BinaryPrimitives.WriteUInt32BigEndian(chunk, Magic.StructuredReply);
        BinaryPrimitives.WriteUInt16BigEndian(chunk[4..], isLast ? (ushort)1 : (ushort)0);
        BinaryPrimitives.WriteUInt16BigEndian(chunk[6..], (ushort)kind);
        BinaryPrimitives.WriteUInt64BigEndian(chunk[8..], cookie);
        BinaryPrimitives.WriteUInt32BigEndian(chunk[16..], payload);
    }
}
