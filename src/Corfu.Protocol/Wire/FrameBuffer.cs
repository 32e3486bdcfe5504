using System.Buffers;

namespace Corfu.Protocol;

/// <summary>A growing, contiguous output buffer that can take its last frame back and gives large arrays up when it is emptied.</summary>
public sealed class FrameBuffer(int initialSize) : IBufferWriter<byte>
{
    private const int LargestKept = 4 << 20;

    private byte[] _array = new byte[initialSize];

    public int Length { get; private set; }

    public ReadOnlyMemory<byte> Written => _array.AsMemory(0, Length);

    public void Advance(int count) => Length += count;

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        Reserve(sizeHint);
        return _array.AsMemory(Length);
    }

    public Span<byte> GetSpan(int sizeHint = 0)
    {
        Reserve(sizeHint);
        return _array.AsSpan(Length);
    }

    public void TruncateTo(int length) => Length = length;

    public void Clear()
    {
        Length = 0;
        if (_array.Length > LargestKept) _array = new byte[initialSize];
    }

    private void Reserve(int sizeHint)
    {
        var needed = Length + Math.Max(sizeHint, 1);
        if (needed > _array.Length) Array.Resize(ref _array, Math.Max(needed, _array.Length * 2));
    }
}
