namespace Corfu.Unit;

/// <summary>The bytes of a log as a recovery scan finds them on a device, holes and garbage included.</summary>
internal interface ILogImage
{
    /// <summary>The lowest address that may hold a record; above 0 only after trimmed parts were deleted.</summary>
    long Begin { get; }

    /// <summary>No byte was ever written at or above.</summary>
    long End { get; }

    /// <summary>Size of the parts in which the middle of the log may be missing; 0 if it never is.</summary>
    long PartSize => 0;

    /// <summary>The address itself, or the beginning of the next part that exists when the one that it lies in does
    /// not.</summary>
    long SkipMissing(long address) => address;

    /// <summary>Fills the buffer; what lies outside or cannot exist reads as zeros.</summary>
    ValueTask ReadAsync(long address, Memory<byte> buffer);
}
