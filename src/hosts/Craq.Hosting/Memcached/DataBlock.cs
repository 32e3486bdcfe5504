using System.Buffers;

namespace Craq.Hosting.Memcached;

/// <summary>Bytes whose length was announced. The memory that they hold grows with the bytes that have come, not with
/// those that are announced.</summary>
internal sealed class DataBlock
{
    private const int FirstBlock = 16 << 10;

    private bool _isKept;
    private int _length;

    // Bytes that are to come: 0 <= _left <= _length.
    private int _left;

    // Invariant of a block that is kept: the first _length - _left bytes are filled, and the array has at most _length.
    private byte[] _bytes = [];

    /// <param name="length">Bytes that follow.</param>
    /// <param name="isKept">False: they are passed over.</param>
    public void Begin(int length, bool isKept)
    {
        (_length, _left, _isKept) = (length, length, isKept);
        _bytes = isKept && length > 0 ? new byte[Math.Min(length, FirstBlock)] : [];
    }

    /// <summary>Takes bytes from the beginning of the buffer; true: the block is complete.</summary>
    public bool TryFill(ref ReadOnlySequence<byte> buffer)
    {
        var taken = (int)Math.Min(buffer.Length, _left);
        if (_isKept && taken > 0)
        {
            var filled = _length - _left;
            Grow(filled + taken);
            buffer.Slice(0, taken).CopyTo(_bytes.AsSpan(filled));
        }

        _left -= taken;
        buffer = buffer.Slice(taken);
        return _left == 0;
    }

    /// <summary>The bytes of a complete block; none, if they were passed over.</summary>
    public ReadOnlyMemory<byte> Take()
    {
        var bytes = _bytes;
        _bytes = [];
        return bytes;
    }

    private void Grow(int needed)
    {
        if (needed > _bytes.Length)
            Array.Resize(ref _bytes, Math.Min(_length, Math.Max(needed, _bytes.Length * 2)));
    }
}
