using System.Buffers.Binary;

namespace Corfu.Storage;

/// <summary>Keeps outside the log how far it was durable, in two slots written in turn. The mark may lag or be lost,
/// but is never ahead of the log, so a log that ends below it came back short. Slot: magic (4), log id (4), durable
/// until (8), reserved (12), CRC-32C of these 28 bytes (4).</summary>
public sealed class DurableMark(ISegmentFiles files, uint logId)
{
    private const uint Magic = 0x314D4643; // "CFM1"
    private const int SlotSize = 32;
    private const int SlotDistance = 512;
    private const int CheckOffset = SlotSize - 4;

    private int _next;

    /// <summary>0 if nothing is known.</summary>
    public long Read()
    {
        var bytes = files.ReadMark();
        var (first, second) = (ReadSlot(bytes, 0), ReadSlot(bytes, SlotDistance));
        // The next write replaces the lower one: a torn write leaves the other.
        _next = first > second ? 1 : 0;
        return Math.Max(first, second);
    }

    public async ValueTask WriteAsync(long durable)
    {
        var slot = new byte[SlotSize];
        BinaryPrimitives.WriteUInt32LittleEndian(slot, Magic);
        BinaryPrimitives.WriteUInt32LittleEndian(slot.AsSpan(4), logId);
        BinaryPrimitives.WriteInt64LittleEndian(slot.AsSpan(8), durable);
        BinaryPrimitives.WriteUInt32LittleEndian(slot.AsSpan(CheckOffset), Crc32C.Compute(slot.AsSpan(0, CheckOffset)));
        await files.WriteMarkAsync(_next * SlotDistance, slot);
        _next ^= 1;
    }

    /// <summary>Makes durable what was read: a killed process may have written it without a sync.</summary>
    public ValueTask SecureAsync(long durable)
    {
        _next ^= 1;
        return WriteAsync(durable);
    }

    private long ReadSlot(ReadOnlySpan<byte> bytes, int at)
    {
        if (bytes.Length < at + SlotSize) return 0;
        var slot = bytes.Slice(at, SlotSize);
        return BinaryPrimitives.ReadUInt32LittleEndian(slot) == Magic
            && BinaryPrimitives.ReadUInt32LittleEndian(slot[4..]) == logId
            && BinaryPrimitives.ReadUInt32LittleEndian(slot[CheckOffset..]) == Crc32C.Compute(slot[..CheckOffset])
                ? BinaryPrimitives.ReadInt64LittleEndian(slot[8..])
                : 0;
    }
}
