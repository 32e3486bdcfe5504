namespace Corfu.Storage;

/// <summary>The log's port to its files: a numbered set of segments and one small mark. A directory in production, a
/// disk with faults in tests and the simulator. Every error is an exception and final.</summary>
public interface ISegmentFiles : IDisposable
{
    /// <summary>Numbers of the segments that exist, ascending.</summary>
    IReadOnlyList<int> List();

    long Length(int segment);

    /// <summary>Creates an empty segment; its name is durable on return.</summary>
    void Create(int segment);

    /// <summary>Removes a segment; durable on return. Readers of it get zeros or an error.</summary>
    void Delete(int segment);

    void Write(int segment, long offset, ReadOnlySpan<byte> bytes);

    /// <summary>Everything written to the segment before the call is durable when it completes.</summary>
    ValueTask SyncAsync(int segment);

    /// <summary>Bytes that the file system has left, and has in all; the maximum where that is not known.</summary>
    (long Free, long Total) Room => (long.MaxValue, long.MaxValue);

    /// <summary>Fills the buffer; what lies beyond the end, or in a segment that does not exist, reads as
    /// zeros.</summary>
    void Read(int segment, long offset, Span<byte> buffer);

    /// <summary>Like <see cref="Read"/>, but false instead of waiting for a disk.</summary>
    bool TryReadCached(int segment, long offset, Span<byte> buffer);

    /// <summary>Like <see cref="Read"/>, but the caller's thread does not wait for a disk.</summary>
    ValueTask ReadAsync(int segment, long offset, Memory<byte> buffer);

    /// <summary>Writes the mark; durable when it completes.</summary>
    ValueTask WriteMarkAsync(long offset, ReadOnlyMemory<byte> bytes);

    /// <summary>The mark's bytes, empty if there is none.</summary>
    byte[] ReadMark();
}
