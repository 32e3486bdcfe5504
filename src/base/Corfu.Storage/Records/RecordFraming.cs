using static System.Buffers.Binary.BinaryPrimitives;

namespace Corfu.Storage;

/// <summary>The record format (docs/formats/log.md gives the byte offsets, a golden test pins them). The check is
/// bound to the log address, so a record is valid only where it was written.</summary>
public static class RecordFraming
{
    public const uint Magic = 0x31524643; // "CFR1"
    public const byte Version = 2;
    public const int HeaderSize = 64;

    private const int KindOffset = 5;
    private const int BodyLengthOffset = 8;
    private const int CheckedLengthOffset = 12;
    private const int NumberOffset = 16;
    private const int EpochOffset = 24;
    private const int PreviousOffset = 32;
    private const int FloorOffset = 40;
    private const int IncarnationOffset = 48;
    private const int LogIdOffset = 52;
    private const int HeadCheckOffset = 56;
    private const int CheckOffset = 60;

    public static int Size(in FramedRecord record) => HeaderSize + record.Body.Length;

    /// <summary>Writes the record, which will stand at <paramref name="address"/>, into exactly its size.</summary>
    /// <returns>The check of the record.</returns>
    public static uint Encode(in FramedRecord record, long address, long previous, long floor, uint incarnation,
        uint logId, Span<byte> target)
    {
        target[..HeaderSize].Clear();
        WriteUInt32LittleEndian(target, Magic);
        target[4] = Version;
        target[KindOffset] = record.Kind;
        WriteInt32LittleEndian(target[BodyLengthOffset..], record.Body.Length);
        WriteInt32LittleEndian(target[CheckedLengthOffset..], record.CheckedLength);
        WriteInt64LittleEndian(target[NumberOffset..], record.Number);
        WriteInt64LittleEndian(target[EpochOffset..], record.Epoch);
        WriteInt64LittleEndian(target[PreviousOffset..], previous);
        WriteInt64LittleEndian(target[FloorOffset..], floor);
        WriteUInt32LittleEndian(target[IncarnationOffset..], incarnation);
        WriteUInt32LittleEndian(target[LogIdOffset..], logId);
        record.Body.Span.CopyTo(target[HeaderSize..]);
        var seed = Seed(target, address);
        var check = Crc32C.Compute(seed, target.Slice(HeaderSize, record.CheckedLength));
        WriteUInt32LittleEndian(target[CheckOffset..], check);
        WriteUInt32LittleEndian(target[HeadCheckOffset..], HeadCheck(seed, target));
        return check;
    }

    /// <summary>Decodes the header at <paramref name="address"/>; false for anything that is not a record of exactly
    /// this place. The header has its own check, so that a record with a damaged body is still
    /// known.</summary>
    public static bool TryDecode(ReadOnlySpan<byte> source, long address, out FramedHeader header)
    {
        header = default;
        if (source.Length < HeaderSize || ReadUInt32LittleEndian(source) != Magic || source[4] != Version) return false;
        var bodyLength = ReadInt32LittleEndian(source[BodyLengthOffset..]);
        var checkedLength = ReadInt32LittleEndian(source[CheckedLengthOffset..]);
        if (checkedLength < 0 || checkedLength > bodyLength || bodyLength > MaxBody) return false;
        var number = ReadInt64LittleEndian(source[NumberOffset..]);
        var epoch = ReadInt64LittleEndian(source[EpochOffset..]);
        if (number < 0 || epoch < 0) return false;
        if (ReadUInt32LittleEndian(source[HeadCheckOffset..]) != HeadCheck(Seed(source, address), source)) return false;
        header = new FramedHeader(
            source[KindOffset], number, epoch, bodyLength, checkedLength,
            ReadInt64LittleEndian(source[PreviousOffset..]), ReadInt64LittleEndian(source[FloorOffset..]),
            ReadUInt32LittleEndian(source[IncarnationOffset..]), ReadUInt32LittleEndian(source[LogIdOffset..]));
        return true;
    }

    /// <summary>Whether the checked part behind a decoded header is there and is what was written.</summary>
    public static bool CheckedPartIntact(ReadOnlySpan<byte> source, long address, in FramedHeader header)
    {
        if (source.Length < HeaderSize + header.CheckedLength) return false;
        var (seed, check) = Identity(source, address);
        return Crc32C.Compute(seed, source.Slice(HeaderSize, header.CheckedLength)) == check;
    }

    /// <summary>CRC-32C of the seed and the record's checked part must give the check.</summary>
    public static (uint Seed, uint Check) Identity(ReadOnlySpan<byte> source, long address) =>
        (Seed(source, address), ReadUInt32LittleEndian(source[CheckOffset..]));

    /// <summary>A bound for readers that meet damaged lengths.</summary>
    public const int MaxBody = 16 << 20;

    /// <summary>The log's id, from the identity of its store.</summary>
    public static uint LogIdOf(Guid identity)
    {
        Span<byte> bytes = stackalloc byte[16];
        identity.TryWriteBytes(bytes);
        return Crc32C.Compute(bytes);
    }

    private static uint Seed(ReadOnlySpan<byte> source, long address) =>
        Crc32C.Compute(address, source[..HeadCheckOffset]);

    private static uint HeadCheck(uint seed, ReadOnlySpan<byte> source) =>
        Crc32C.Compute(seed, source[CheckOffset..HeaderSize]);
}
