using System.Buffers.Binary;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;

namespace Tango.Ledgers.Records;

/// <summary>Streams of ledgers have ids of a range of their own: no raw stream, which any client may append to and an
/// operator may let go, and no object's. The log is kept for them by the directory's claim.</summary>
internal static class LedgerStreams
{
    /// <summary>2^60: above all objects, below the journals of Orleans' grains.</summary>
    public const ulong FirstValue = 1UL << 60;

    /// <summary>The stream of a slot. A unit keeps each stream's tail for ever, so that ledgers share few
    /// streams.</summary>
    public static StreamId OfSlot(ObjectId store, int slot) => Of(store, slot.ToString(CultureInfo.InvariantCulture));

    /// <summary>The stream of entries that were moved. No process plays it: spines lead to them.</summary>
    public static StreamId OfMoved(ObjectId store) => Of(store, "moved");

    // The first 8 bytes (little-endian) of the name's SHA-256, with bit 60 set and those above clear.
    private static StreamId Of(ObjectId store, string part)
    {
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(Encoding.UTF8.GetBytes($"tango.ledgers/{store}/{part}"), hash);
        return new StreamId((BinaryPrimitives.ReadUInt64LittleEndian(hash) & (FirstValue - 1)) | FirstValue);
    }
}
