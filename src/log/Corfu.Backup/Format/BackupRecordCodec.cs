using System.Buffers.Binary;

namespace Corfu.Backup;

/// <summary>The records of a backup file (docs/formats/log.md). An entry keeps its own format.</summary>
internal static class BackupRecordCodec
{
    public const int HeaderSize = 28;

    /// <summary>The largest body: an entry that fits a frame.</summary>
    private const int MaxBody = MessageLimits.MaxFrame;

    private const int KindOffset = 4;
    private const int PositionOffset = 8;
    private const int CountOffset = 16;
    private const int CheckOffset = 24;

    public static byte[] Encode(CopiedPage page)
    {
        var body = page.Entry is { } entry
            ? EntryCodec.Encode(page.Kind == CopiedKind.Tombstone ? entry with { Payload = default } : entry)
            : [];
        var bytes = new byte[HeaderSize + body.Length];
        BinaryPrimitives.WriteInt32LittleEndian(bytes, body.Length);
        bytes[KindOffset] = (byte)page.Kind;
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(PositionOffset), page.Position.Offset);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(CountOffset), page.Count);
        body.CopyTo(bytes, HeaderSize);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(CheckOffset), Check(bytes, body));
        return bytes;
    }

    /// <summary>Length of the body that follows a record's header, before anything is allocated for it.</summary>
    /// <exception cref="MalformedDataException">The length cannot be.</exception>
    public static int BodyLength(ReadOnlySpan<byte> header)
    {
        var length = BinaryPrimitives.ReadInt32LittleEndian(header);
        return length is >= 0 and <= MaxBody
            ? length
            : throw new MalformedDataException($"A record states a length of {length}");
    }

    /// <exception cref="MalformedDataException">The record is damaged.</exception>
    public static CopiedPage Decode(ReadOnlySpan<byte> header, ReadOnlyMemory<byte> body)
    {
        if (header.Length != HeaderSize || BodyLength(header) != body.Length)
            throw new MalformedDataException("A record's length is not the one it states");
        if (BinaryPrimitives.ReadUInt32LittleEndian(header[CheckOffset..]) != Check(header, body.Span))
            throw new MalformedDataException("A record's check does not fit its bytes");
        var kind = (CopiedKind)header[KindOffset];
        var offset = BinaryPrimitives.ReadInt64LittleEndian(header[PositionOffset..]);
        var count = BinaryPrimitives.ReadInt64LittleEndian(header[CountOffset..]);
        if (offset < 0 || count < 1 || offset > long.MaxValue - count)
            throw new MalformedDataException("A record's positions cannot be");
        if (header[5..PositionOffset].ContainsAnyExcept((byte)0))
            throw new MalformedDataException("A record's reserved bytes are in use");
        return new CopiedPage(kind, new LogPosition(offset), count, EntryOf(kind, offset, count, body));
    }

    private static LogEntry? EntryOf(CopiedKind kind, long offset, long count, ReadOnlyMemory<byte> body)
    {
        if (kind == CopiedKind.Trimmed)
            return body.IsEmpty ? null : throw new MalformedDataException("A trimmed run has a body");
        if (kind is not (CopiedKind.Entry or CopiedKind.Tombstone))
            throw new MalformedDataException($"A record's kind, {(byte)kind}, is unknown");
        var entry = EntryCodec.Decode(body);
        if (count != 1 || entry.Position.Offset != offset)
            throw new MalformedDataException("A record holds another position's entry");
        if (!entry.Payload.IsEmpty && (entry.IsJunk || kind == CopiedKind.Tombstone))
            throw new MalformedDataException("Junk or a tombstone has a payload");
        return entry;
    }

    // The check itself is left out.
    private static uint Check(ReadOnlySpan<byte> header, ReadOnlySpan<byte> body) =>
        Crc32C.Compute(Crc32C.Compute(header[..CheckOffset]), body);
}
