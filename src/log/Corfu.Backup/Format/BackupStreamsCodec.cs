using System.Buffers;
using System.Buffers.Binary;

namespace Corfu.Backup;

/// <summary>The blocks of a backup's file of trimmed streams (docs/formats/log.md), each of at most
/// <see cref="MessageLimits.MaxItems"/>.</summary>
internal static class BackupStreamsCodec
{
    public const int HeaderSize = 8;

    private const int CheckOffset = 4;

    public static byte[] Encode(ImmutableArray<StreamTail> tails)
    {
        var body = new ArrayBufferWriter<byte>();
        var w = new WireWriter(body);
        w.Tails(tails);
        w.Flush();
        var bytes = new byte[HeaderSize + body.WrittenCount];
        BinaryPrimitives.WriteInt32LittleEndian(bytes, body.WrittenCount);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(CheckOffset), Crc32C.Compute(body.WrittenSpan));
        body.WrittenSpan.CopyTo(bytes.AsSpan(HeaderSize));
        return bytes;
    }

    /// <summary>Length of the body that follows a block's header, before anything is allocated for it.</summary>
    /// <exception cref="MalformedDataException">The length cannot be.</exception>
    public static int BodyLength(ReadOnlySpan<byte> header)
    {
        var length = BinaryPrimitives.ReadInt32LittleEndian(header);
        return length is >= 0 and <= MessageLimits.MaxFrame
            ? length
            : throw new MalformedDataException($"A block states a length of {length}");
    }

    /// <exception cref="MalformedDataException">The block is damaged.</exception>
    public static ImmutableArray<StreamTail> Decode(ReadOnlySpan<byte> header, ReadOnlyMemory<byte> body)
    {
        if (header.Length != HeaderSize || BodyLength(header) != body.Length)
            throw new MalformedDataException("A block's length is not the one it states");
        if (BinaryPrimitives.ReadUInt32LittleEndian(header[CheckOffset..]) != Crc32C.Compute(body.Span))
            throw new MalformedDataException("A block's check does not fit its bytes");
        var r = new WireReader(body);
        var tails = r.Tails();
        r.End();
        return tails;
    }
}
