using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>
/// What is still known about a damaged page, enough to recognise the entry that was there: its length, and a check over its headers,
/// which in turn cover the payload's check (R4: only the identical entry repairs).
/// </summary>
/// <param name="HeadersIntact">The page's streams are known; only the payload is gone.</param>
/// <param name="Seed">What the check starts from.</param>
/// <param name="Check">CRC-32C of the seed and the headers; null when only the origin and the lengths are left to compare.</param>
public readonly record struct CorruptPage(bool HeadersIntact, uint Seed, uint? Check)
{
    /// <summary>A page whose headers were just read and are good.</summary>
    public static CorruptPage Of(ReadOnlySpan<byte> headers) => new(true, 0, Crc32C.Compute(0, headers));

    internal bool IsOf(in PageSlot slot, LogEntry entry, ReadOnlySpan<byte> bytes) =>
        bytes.Length == slot.Length
        && bytes.Length - entry.Payload.Length == slot.HeaderLength
        && (slot.Origin == default || slot.Origin == entry.Origin)
        && (Check is null || Crc32C.Compute(Seed, bytes[..slot.HeaderLength]) == Check);
}
