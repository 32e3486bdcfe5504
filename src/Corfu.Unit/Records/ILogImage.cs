namespace Corfu.Unit;

/// <summary>The bytes of a log as a recovery scan finds them on a device, holes and garbage included.</summary>
public interface ILogImage
{
    /// <summary>The lowest address that may hold a record; above 0 only after trimmed parts were deleted.</summary>
    long Begin { get; }

    /// <summary>No byte was ever written at or above.</summary>
    long End { get; }

    /// <summary>Fills the buffer; what lies outside or cannot exist reads as zeros.</summary>
    ValueTask ReadAsync(long address, Memory<byte> buffer);
}
