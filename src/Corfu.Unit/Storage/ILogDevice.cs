namespace Corfu.Unit;

/// <summary>
/// One flat, growing file, as small as a simulated disk can be. Writes are volatile until a flush that began after them has ended; an
/// error of either is final.
/// </summary>
public interface ILogDevice
{
    /// <summary>One above the last byte ever written.</summary>
    long Length { get; }

    void Write(long offset, ReadOnlySpan<byte> bytes);

    ValueTask FlushAsync();

    /// <summary>What lies beyond the end reads as zeros.</summary>
    ValueTask ReadAsync(long offset, Memory<byte> buffer);
}
