using System.IO.Hashing;

namespace Tango.Records;

/// <summary>Cells of keys (R31). A part of the protocol: the sequencer compares cells of all runtimes, so that two
/// functions would miss conflicts. Different keys may share a cell, which can refuse a transaction and never let one
/// pass.</summary>
internal static class KeyCells
{
    /// <summary>XXH3 of 64 bits over the key's bytes, seeded with the object's id.</summary>
    public static ulong Of(ObjectId id, ReadOnlySpan<byte> key) => XxHash3.HashToUInt64(key, (long)id.Value);
}
