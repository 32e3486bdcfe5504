using System.Buffers;
using System.ComponentModel;

namespace Tango;

/// <summary>Buffer in which generated code encodes a key or the arguments of one call. Not thread-safe; owned by the
/// helper it is passed to.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public sealed class ArgumentBuffer : IBufferWriter<byte>
{
    // The writer asks for a few bytes at a time; most keys and arguments fit.
    private const int FirstCapacity = 128;

    private byte[] _buffer;
    private int _written;

    /// <param name="capacity">In bytes, if it is known; the buffer grows anyway.</param>
    public ArgumentBuffer(int capacity = 0) => _buffer = capacity == 0 ? [] : new byte[capacity];

    public int Length => _written;

    public ReadOnlySpan<byte> WrittenSpan => _buffer.AsSpan(0, _written);

    public ReadOnlyMemory<byte> WrittenMemory => _buffer.AsMemory(0, _written);

    public void Advance(int count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(count, _buffer.Length - _written);
        _written += count;
    }

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        Reserve(sizeHint);
        return _buffer.AsMemory(_written);
    }

    public Span<byte> GetSpan(int sizeHint = 0)
    {
        Reserve(sizeHint);
        return _buffer.AsSpan(_written);
    }

    private void Reserve(int sizeHint)
    {
        var needed = Math.Max(sizeHint, 1);
        if (_buffer.Length - _written < needed)
            Array.Resize(ref _buffer, Math.Max(Math.Max(FirstCapacity, _buffer.Length * 2), _written + needed));
    }
}
