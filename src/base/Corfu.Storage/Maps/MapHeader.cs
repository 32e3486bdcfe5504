using static System.Buffers.Binary.BinaryPrimitives;

namespace Corfu.Storage;

/// <summary>The beginning of the document beside an address map's checkpoint, the same in every store: the log's state
/// when the checkpoint was begun. A start goes on from there if the log agrees.</summary>
/// <remarks>Document: magic (4), version (1), log id (4), number (8), map (16), tail (end 8, last record 8,
/// incarnation 4, records 8), last check (4), needs (8), first kept (8), the store's contents, CRC-32C of all before
/// (4).</remarks>
/// <param name="map">Identity of the map's checkpoint.</param>
/// <param name="tail">The replay goes on behind this record.</param>
/// <param name="lastCheck">The check of that record: another log has another.</param>
/// <param name="firstKept">The address of the first record that stays.</param>
public sealed class MapHeader(uint logId, Guid map, LogTail tail, uint lastCheck, long firstKept)
{
    private const byte Version = 1;
    private const int LogIdOffset = 5;
    private const int NumberOffset = 9;
    private const int MapOffset = 17;
    private const int EndOffset = 33;
    private const int LastRecordOffset = 41;
    private const int IncarnationOffset = 49;
    private const int RecordsOffset = 53;
    private const int LastCheckOffset = 61;
    private const int NeedsOffset = 65;
    private const int FirstKeptOffset = 73;
    private const int Size = 81;
    private const int CheckSize = 4;

    public uint LogId { get; } = logId;

    public Guid Map { get; } = map;

    public LogTail Tail { get; } = tail;

    public uint LastCheck { get; } = lastCheck;

    public long FirstKept { get; } = firstKept;

    public long Number { get; set; }

    /// <summary>The map may reflect records up to here: a log that ends before is not the one that it was made
    /// from.</summary>
    public long Needs { get; set; }

    /// <summary>Reads a document; null: the document is not whole, or another store's.</summary>
    /// <param name="magic">Names the store's kind of document.</param>
    /// <param name="contents">The store's part.</param>
    public static MapHeader? Read(byte[] document, uint magic, out ReadOnlyMemory<byte> contents)
    {
        contents = default;
        if (document.Length < Size + CheckSize) return null;
        ReadOnlySpan<byte> bytes = document;
        if (ReadUInt32LittleEndian(bytes[^CheckSize..]) != Crc32C.Compute(bytes[..^CheckSize])) return null;
        if (ReadUInt32LittleEndian(bytes) != magic || bytes[4] != Version) return null;
        contents = document.AsMemory(Size..^CheckSize);
        var tail = new LogTail(ReadInt64LittleEndian(bytes[EndOffset..]),
            ReadInt64LittleEndian(bytes[LastRecordOffset..]), ReadUInt32LittleEndian(bytes[IncarnationOffset..]),
            ReadInt64LittleEndian(bytes[RecordsOffset..]));
        return new MapHeader(ReadUInt32LittleEndian(bytes[LogIdOffset..]), new Guid(bytes.Slice(MapOffset, 16)), tail,
            ReadUInt32LittleEndian(bytes[LastCheckOffset..]), ReadInt64LittleEndian(bytes[FirstKeptOffset..]))
        {
            Number = ReadInt64LittleEndian(bytes[NumberOffset..]),
            Needs = ReadInt64LittleEndian(bytes[NeedsOffset..]),
        };
    }

    /// <summary>The whole document.</summary>
    /// <inheritdoc cref="Read"/>
    public byte[] ToDocument(uint magic, ReadOnlySpan<byte> contents)
    {
        var document = new byte[Size + contents.Length + CheckSize];
        var bytes = document.AsSpan();
        WriteUInt32LittleEndian(bytes, magic);
        bytes[4] = Version;
        WriteUInt32LittleEndian(bytes[LogIdOffset..], LogId);
        WriteInt64LittleEndian(bytes[NumberOffset..], Number);
        Map.TryWriteBytes(bytes[MapOffset..]);
        WriteInt64LittleEndian(bytes[EndOffset..], Tail.End);
        WriteInt64LittleEndian(bytes[LastRecordOffset..], Tail.LastRecord);
        WriteUInt32LittleEndian(bytes[IncarnationOffset..], Tail.Incarnation);
        WriteInt64LittleEndian(bytes[RecordsOffset..], Tail.Records);
        WriteUInt32LittleEndian(bytes[LastCheckOffset..], LastCheck);
        WriteInt64LittleEndian(bytes[NeedsOffset..], Needs);
        WriteInt64LittleEndian(bytes[FirstKeptOffset..], FirstKept);
        contents.CopyTo(bytes[Size..]);
        WriteUInt32LittleEndian(bytes[^CheckSize..], Crc32C.Compute(bytes[..^CheckSize]));
        return document;
    }

    /// <summary>Whether the log is the one that the checkpoint was made from, and has all that the map
    /// reflects.</summary>
    public async ValueTask<bool> AgreesAsync(ILogImage image)
    {
        var last = Tail.LastRecord;
        if (Needs > image.End || last < image.Begin || last >= image.End) return false;
        var bytes = new byte[RecordFraming.HeaderSize];
        await image.ReadAsync(last, bytes);
        return RecordFraming.TryDecode(bytes, last, out var header)
            && header.Incarnation == Tail.Incarnation
            // As the scan computes it: the scan goes on there.
            && IRecordLog.Align(last + RecordFraming.HeaderSize + header.BodyLength) == Tail.End
            && RecordFraming.Identity(bytes, last).Check == LastCheck;
    }
}
