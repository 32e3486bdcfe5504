namespace Corfu.Unit;

/// <summary>
/// One flat, growing file, as small as a simulated disk can be. Writes are volatile until a flush that began after them has ended; an
/// error of either is final.
/// </summary>
public interface ILogDevice
{
    /// <summary>One above the last byte ever written.</summary>
    long Length { get; }

    /// <summary>The log has room up to here; it changes as others take and free space on the same disk.</summary>
    long Capacity => long.MaxValue;

    void Write(long offset, ReadOnlySpan<byte> bytes);

    ValueTask FlushAsync();

    /// <summary>What lies beyond the end reads as zeros.</summary>
    ValueTask ReadAsync(long offset, Memory<byte> buffer);
}
