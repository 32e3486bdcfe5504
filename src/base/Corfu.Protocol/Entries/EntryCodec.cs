using System.Runtime.InteropServices;
using static System.Buffers.Binary.BinaryPrimitives;

namespace Corfu.Protocol;

/// <summary>The entry format (docs/formats/log.md gives the byte offsets, a golden test pins them). One check covers
/// the fixed part and the stream headers, another the payload. Both cover the position, so that a misdirected read is
/// noticed. With only the payload's check broken, the page is corrupt and its streams are still known.</summary>
public static class EntryCodec
{
    public const uint Magic = 0x31454643; // "CFE1"
    public const byte Version = 1;

    /// <summary>Bytes before the first stream header.</summary>
    public const int FixedSize = 80;

    private const int KindOffset = 5;
    private const int StreamCountOffset = 6;
    private const int TotalOffset = 8;
    private const int HeaderLengthOffset = 12;
    private const int EpochOffset = 16;
    private const int PositionOffset = 24;
    private const int WriterOffset = 32;
    private const int SequenceOffset = 48;
    private const int TimeOffset = 56;
    private const int PayloadLengthOffset = 64;
    private const int PayloadCrcOffset = 68;
    private const int ReservedOffset = 72;
    private const int HeaderCrcOffset = 76;

    public static int Size(IReadOnlyList<StreamHeader> streams, LogPosition position, int payloadLength)
    {
        var size = FixedSize + payloadLength;
        for (var i = 0; i < streams.Count; i++) size += HeaderSize(streams[i], position);
        return size;
    }

    public static byte[] Encode(LogEntry entry)
    {
        var bytes = new byte[Size(entry.Streams, entry.Position, entry.Payload.Length)];
        Encode(entry, bytes);
        return bytes;
    }

    /// <summary>Writes the entry into <paramref name="target"/>, which must have exactly its size.</summary>
    public static void Encode(LogEntry entry, Span<byte> target)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(entry.Streams.Length, EntryLimits.MaxStreams);
        var at = FixedSize;
        foreach (var header in entry.Streams) at += WriteHeader(target[at..], header, entry.Position);
        WriteUInt32LittleEndian(target, Magic);
        target[4] = Version;
        target[KindOffset] = (byte)entry.Kind;
        WriteUInt16LittleEndian(target[StreamCountOffset..], (ushort)entry.Streams.Length);
        WriteInt32LittleEndian(target[TotalOffset..], target.Length);
        WriteInt32LittleEndian(target[HeaderLengthOffset..], at);
        WriteInt64LittleEndian(target[EpochOffset..], entry.Position.Epoch.Value);
        WriteInt64LittleEndian(target[PositionOffset..], entry.Position.Offset);
        entry.Origin.Writer.Value.TryWriteBytes(target[WriterOffset..]);
        WriteInt64LittleEndian(target[SequenceOffset..], entry.Origin.Sequence);
        WriteInt64LittleEndian(target[TimeOffset..], entry.WriterTime.ToUnixTimeMilliseconds());
        WriteInt32LittleEndian(target[PayloadLengthOffset..], entry.Payload.Length);
        var payload = target[at..];
        entry.Payload.Span.CopyTo(payload);
        WriteUInt32LittleEndian(target[PayloadCrcOffset..], Crc32C.Compute(entry.Position.Offset, payload));
        WriteInt32LittleEndian(target[ReservedOffset..], 0);
        WriteUInt32LittleEndian(target[HeaderCrcOffset..], HeaderCrc(target[..at]));
    }

    /// <summary>Full decode; <see cref="MalformedDataException"/> on any damage. The payload is a slice of the
    /// input.</summary>
    public static LogEntry Decode(ReadOnlyMemory<byte> bytes)
    {
        var entry = DecodeHeaders(bytes);
        var span = bytes.Span;
        var at = ReadInt32LittleEndian(span[HeaderLengthOffset..]);
        if (span.Length != ReadInt32LittleEndian(span[TotalOffset..]))
            throw new MalformedDataException("An entry's length is not the one it states.");
        if (!PayloadIntact(span))
            throw new MalformedDataException($"The payload of the entry at {entry.Position} is damaged.");
        return entry with { Payload = bytes[at..] };
    }

    /// <summary>Decodes the fixed part and the stream headers, from a whole entry or from its first
    /// <see cref="HeaderLength"/> bytes; the payload stays empty and unchecked.</summary>
    public static LogEntry DecodeHeaders(ReadOnlyMemory<byte> bytes)
    {
        var span = bytes.Span;
        var headerLength = HeaderLength(span);
        var total = ReadInt32LittleEndian(span[TotalOffset..]);
        var payloadLength = ReadInt32LittleEndian(span[PayloadLengthOffset..]);
        if (payloadLength < 0 || (long)headerLength + payloadLength != total)
            throw new MalformedDataException("An entry's lengths do not add up.");
        if (ReadUInt32LittleEndian(span[HeaderCrcOffset..]) != HeaderCrc(span[..headerLength]))
            throw new MalformedDataException("An entry's headers are damaged.");
        var position = PeekPosition(span);
        var kind = (EntryKind)span[KindOffset];
        if (kind is not (EntryKind.Data or EntryKind.Junk))
            throw new MalformedDataException("An entry's kind is unknown.");
        var time = ReadInt64LittleEndian(span[TimeOffset..]);
        if (time is < -62_135_596_800_000 or > 253_402_300_799_999)
            throw new MalformedDataException("An entry's time is out of range.");
        var streamCount = ReadUInt16LittleEndian(span[StreamCountOffset..]);
        var streams = ReadHeaders(span[FixedSize..headerLength], streamCount, position);
        return new LogEntry(position, PeekOrigin(span), kind, DateTimeOffset.FromUnixTimeMilliseconds(time), streams,
            default);
    }

    /// <summary>Bytes up to the payload, checked against what is there.</summary>
    public static int HeaderLength(ReadOnlySpan<byte> span)
    {
        if (span.Length < FixedSize) throw new MalformedDataException("An entry is shorter than its fixed part.");
        if (ReadUInt32LittleEndian(span) != Magic) throw new MalformedDataException("No entry starts here.");
        if (span[4] != Version) throw new MalformedDataException($"Entry format {span[4]} is unknown.");
        var length = ReadInt32LittleEndian(span[HeaderLengthOffset..]);
        if (length < FixedSize || length > span.Length)
            throw new MalformedDataException("An entry's headers exceed its bytes.");
        return length;
    }

    /// <summary>The payload's own check; the caller has decoded the headers.</summary>
    public static bool PayloadIntact(ReadOnlySpan<byte> span) =>
        ReadUInt32LittleEndian(span[PayloadCrcOffset..])
        == Crc32C.Compute(PeekPosition(span).Offset, span[ReadInt32LittleEndian(span[HeaderLengthOffset..])..]);

    /// <summary>The position and epoch that the bytes state; only meaningful once decoded or otherwise
    /// checked.</summary>
    public static LogPosition PeekPosition(ReadOnlySpan<byte> span)
    {
        var offset = ReadInt64LittleEndian(span[PositionOffset..]);
        var epoch = ReadInt64LittleEndian(span[EpochOffset..]);
        if (offset < 0 || epoch < 0) throw new MalformedDataException("An entry's position or epoch is negative.");
        return new LogPosition(offset, new Epoch(epoch));
    }

    public static EntryOrigin PeekOrigin(ReadOnlySpan<byte> span) =>
        new(new WriterId(new Guid(span.Slice(WriterOffset, 16))), ReadInt64LittleEndian(span[SequenceOffset..]));

    public static EntryKind PeekKind(ReadOnlySpan<byte> span) => (EntryKind)span[KindOffset];

    // The check is the last fixed field: it covers the fields before it and the stream headers behind it.
    private static uint HeaderCrc(ReadOnlySpan<byte> headers) =>
        Crc32C.Compute(Crc32C.Compute(headers[..HeaderCrcOffset]), headers[FixedSize..]);

    // A stream header is: id (8), flags (1: low 3 bits count, bit 7 absolute), then count x 2 (distance back) or x 8
    // (offset).
    private const byte AbsoluteFlag = 0x80;

    private static bool FitsRelative(StreamHeader header, LogPosition position)
    {
        foreach (var back in header.Backpointers)
        {
            if (position - back is < 1 or > ushort.MaxValue) return false;
        }

        return true;
    }

    private static int HeaderSize(StreamHeader header, LogPosition position) =>
        9 + header.Backpointers.Length * (FitsRelative(header, position) ? 2 : 8);

    private static int WriteHeader(Span<byte> target, StreamHeader header, LogPosition position)
    {
        if (header.Backpointers.Length > StreamHeader.MaxBackpointers)
            throw new ArgumentException("Too many backpointers.", nameof(header));
        var relative = FitsRelative(header, position);
        WriteUInt64LittleEndian(target, header.Stream.Value);
        target[8] = (byte)(header.Backpointers.Length | (relative ? 0 : AbsoluteFlag));
        var at = 9;
        foreach (var back in header.Backpointers)
        {
            if (relative) WriteUInt16LittleEndian(target[at..], (ushort)(position - back));
            else WriteInt64LittleEndian(target[at..], back.Offset);
            at += relative ? 2 : 8;
        }

        return at;
    }

    private static ImmutableArray<StreamHeader> ReadHeaders(ReadOnlySpan<byte> span, int count, LogPosition position)
    {
        if (count > EntryLimits.MaxStreams) throw new MalformedDataException("An entry names too many streams.");
        var headers = ImmutableArray.CreateBuilder<StreamHeader>(Math.Min(count, span.Length / 9 + 1));
        for (var i = 0; i < count; i++)
        {
            if (span.Length < 9) throw new MalformedDataException("An entry's stream headers end early.");
            var stream = new StreamId(ReadUInt64LittleEndian(span));
            var pointers = span[8] & ~AbsoluteFlag;
            var width = (span[8] & AbsoluteFlag) == 0 ? 2 : 8;
            span = span[9..];
            if (pointers > StreamHeader.MaxBackpointers || span.Length < pointers * width)
                throw new MalformedDataException("An entry's backpointers end early.");
            headers.Add(new StreamHeader(stream, ReadBackpointers(span[..(pointers * width)], width, position)));
            span = span[(pointers * width)..];
        }

        return span.IsEmpty
            ? headers.DrainToImmutable()
            : throw new MalformedDataException("Bytes follow an entry's stream headers.");
    }

    private static ImmutableArray<LogPosition> ReadBackpointers(ReadOnlySpan<byte> span, int width, LogPosition at)
    {
        var result = new LogPosition[span.Length / width];
        for (var i = 0; i < result.Length; i++)
        {
            var field = span[(i * width)..];
            var offset = width == 2 ? at.Offset - ReadUInt16LittleEndian(field) : ReadInt64LittleEndian(field);
            if (offset < 0 || offset >= at.Offset)
                throw new MalformedDataException("A backpointer does not point back.");
            result[i] = new LogPosition(offset);
        }

        return ImmutableCollectionsMarshal.AsImmutableArray(result);
    }
}
