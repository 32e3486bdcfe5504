using System.Buffers;

namespace Tango.Checkpoints;

/// <summary>Takes an encoding of any length without copying what is written, and cuts it into chunks. Not
/// thread-safe.</summary>
internal sealed class ChunkedBuffer : IBufferWriter<byte>
{
    // Below the large object heap.
    private const int SegmentSize = 64 * 1024;

    private readonly List<ReadOnlyMemory<byte>> _full = [];
    private byte[] _current = [];
    private int _written;

    public long Length { get; private set; }

    public void Advance(int count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(count, _current.Length - _written);
        _written += count;
        Length += count;
    }

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        Reserve(sizeHint);
        return _current.AsMemory(_written);
    }

    public Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;

    /// <summary>All that was written, in chunks of <paramref name="size"/> bytes; the last may be shorter.</summary>
    public IEnumerable<ReadOnlyMemory<byte>> Cut(int size)
    {
        var chunk = new byte[size];
        var filled = 0;
        foreach (var segment in _full.Append(_current.AsMemory(0, _written)))
        {
            for (var rest = segment; !rest.IsEmpty;)
            {
                var taken = Math.Min(rest.Length, size - filled);
                rest[..taken].CopyTo(chunk.AsMemory(filled));
                rest = rest[taken..];
                filled += taken;
                if (filled < size) continue;
                yield return chunk;
                chunk = new byte[size];
                filled = 0;
            }
        }

        if (filled > 0) yield return chunk.AsMemory(0, filled);
    }

    private void Reserve(int sizeHint)
    {
        var needed = Math.Max(sizeHint, 1);
        if (_current.Length - _written >= needed) return;
        if (_written > 0) _full.Add(_current.AsMemory(0, _written));
        _current = new byte[Math.Max(needed, SegmentSize)];
        _written = 0;
    }
}
