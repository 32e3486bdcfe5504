using System.Buffers.Binary;
using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>
/// The record format, the same in every store that keeps a log (docs/formats.md gives the byte offsets, a golden test
/// pins them). R6: the check is bound to the log address, so a record is valid only where it was written.
/// </summary>
internal static class RecordCodec
{
    public const uint Magic = 0x31524643; // "CFR1"
    public const byte Version = 2;
    public const int HeaderSize = 64;

    /// <summary>Records start at multiples of this.</summary>
    public const int Alignment = 4;

    private const int KindOffset = 5;
    private const int BodyLengthOffset = 8;
    private const int CheckedLengthOffset = 12;
    private const int PositionOffset = 16;
    private const int EpochOffset = 24;
    private const int PreviousOffset = 32;
    private const int FloorOffset = 40;
    private const int IncarnationOffset = 48;
    private const int LogIdOffset = 52;
    private const int HeadCheckOffset = 56;
    private const int CheckOffset = 60;

    public static int Size(in LogRecord record) => HeaderSize + record.Body.Length;

    public static int Align(int length) => (length + Alignment - 1) & ~(Alignment - 1);

    public static long Align(long address) => (address + Alignment - 1) & ~(long)(Alignment - 1);

    /// <summary>Writes the record, which will stand at <paramref name="address"/>, into exactly its size.</summary>
    public static void Encode(in LogRecord record, long address, long previous, long floor, uint incarnation,
        uint logId, Span<byte> target)
    {
        target[..HeaderSize].Clear();
        BinaryPrimitives.WriteUInt32LittleEndian(target, Magic);
        target[4] = Version;
        target[KindOffset] = (byte)record.Kind;
        BinaryPrimitives.WriteInt32LittleEndian(target[BodyLengthOffset..], record.Body.Length);
        BinaryPrimitives.WriteInt32LittleEndian(target[CheckedLengthOffset..], record.CheckedLength);
        BinaryPrimitives.WriteInt64LittleEndian(target[PositionOffset..], record.Position.Offset);
        BinaryPrimitives.WriteInt64LittleEndian(target[EpochOffset..], record.Position.Epoch.Value);
        BinaryPrimitives.WriteInt64LittleEndian(target[PreviousOffset..], previous);
        BinaryPrimitives.WriteInt64LittleEndian(target[FloorOffset..], floor);
        BinaryPrimitives.WriteUInt32LittleEndian(target[IncarnationOffset..], incarnation);
        BinaryPrimitives.WriteUInt32LittleEndian(target[LogIdOffset..], logId);
        record.Body.Span.CopyTo(target[HeaderSize..]);
        var seed = Seed(target, address);
        BinaryPrimitives.WriteUInt32LittleEndian(target[CheckOffset..],
            Crc32C.Compute(seed, target.Slice(HeaderSize, record.CheckedLength)));
        BinaryPrimitives.WriteUInt32LittleEndian(target[HeadCheckOffset..], HeadCheck(seed, target));
    }

    /// <summary>
    /// Decodes the record at <paramref name="address"/> from bytes that hold at least its header. False for anything
    /// that is not a record of exactly this place. The header has a check of its own, so that a page with damaged
    /// stream headers is still known.
    /// </summary>
    public static bool TryDecode(ReadOnlySpan<byte> source, long address, out RecordHeader header)
    {
        header = default;
        if (!TryPeekLengths(source, out var bodyLength, out var checkedLength)) return false;
        var position = BinaryPrimitives.ReadInt64LittleEndian(source[PositionOffset..]);
        var epoch = BinaryPrimitives.ReadInt64LittleEndian(source[EpochOffset..]);
        if (position < 0 || epoch < 0) return false;
        if (BinaryPrimitives.ReadUInt32LittleEndian(source[HeadCheckOffset..]) != HeadCheck(Seed(source, address),
            source)) return false;
        header = new RecordHeader(
            (RecordKind)source[KindOffset],
            new LogPosition(position, new Epoch(epoch)),
            bodyLength,
            checkedLength,
            BinaryPrimitives.ReadInt64LittleEndian(source[PreviousOffset..]),
            BinaryPrimitives.ReadInt64LittleEndian(source[FloorOffset..]),
            BinaryPrimitives.ReadUInt32LittleEndian(source[IncarnationOffset..]),
            BinaryPrimitives.ReadUInt32LittleEndian(source[LogIdOffset..]));
        return true;
    }

    /// <summary>Whether the checked part behind a decoded header is what was written. False also if it is not all at
    /// hand.</summary>
    public static bool CheckedPartIntact(ReadOnlySpan<byte> source, long address, in RecordHeader header)
    {
        if (source.Length < HeaderSize + header.CheckedLength) return false;
        var (seed, check) = Identity(source, address);
        return Crc32C.Compute(seed, source.Slice(HeaderSize, header.CheckedLength)) == check;
    }

    /// <summary>What the checked part of the record at hand must give: CRC-32C of the seed and it.</summary>
    public static (uint Seed, uint Check) Identity(ReadOnlySpan<byte> source, long address) =>
        (Seed(source, address), BinaryPrimitives.ReadUInt32LittleEndian(source[CheckOffset..]));

    /// <summary>Plausible lengths behind a magic number: how much must be at hand before <see cref="TryDecode"/> can
    /// tell.</summary>
    public static bool TryPeekLengths(ReadOnlySpan<byte> source, out int bodyLength, out int checkedLength)
    {
        bodyLength = checkedLength = 0;
        if (source.Length < HeaderSize || BinaryPrimitives.ReadUInt32LittleEndian(source) != Magic
            || source[4] != Version) return false;
        bodyLength = BinaryPrimitives.ReadInt32LittleEndian(source[BodyLengthOffset..]);
        checkedLength = BinaryPrimitives.ReadInt32LittleEndian(source[CheckedLengthOffset..]);
        return checkedLength >= 0 && checkedLength <= bodyLength && bodyLength <= MaxBody;
    }

    /// <summary>No body is longer: a bound for readers that meet damaged lengths.</summary>
    public const int MaxBody = 16 << 20;

    public static uint LogIdOf(NodeId unit)
    {
        Span<byte> bytes = stackalloc byte[16];
        unit.Value.TryWriteBytes(bytes);
        return Crc32C.Compute(bytes);
    }

    private static uint Seed(ReadOnlySpan<byte> source, long address) =>
        Crc32C.Compute(address, source[..HeadCheckOffset]);

    private static uint HeadCheck(uint seed, ReadOnlySpan<byte> source) =>
        Crc32C.Compute(seed, source[CheckOffset..HeaderSize]);
}
