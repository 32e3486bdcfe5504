using System.Buffers;

namespace Corfu.Protocol;

/// <summary>A contiguous output buffer for frames: <see cref="MessageCodec"/> sets a frame's length afterwards, and
/// removes a frame whose encoding failed. Larger contents live in memory of the shared pool until the buffer is
/// cleared.</summary>
public sealed class FrameBuffer(int keptSize = 512) : IBufferWriter<byte>
{
    private readonly byte[] _kept = new byte[keptSize];
    private byte[]? _rented;

    public int Length { get; private set; }

    public ReadOnlyMemory<byte> WrittenMemory => Array.AsMemory(0, Length);

    public ReadOnlySpan<byte> WrittenSpan => Array.AsSpan(0, Length);

    private byte[] Array => _rented ?? _kept;

    public void Advance(int count)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan((uint)count, (uint)(Array.Length - Length), nameof(count));
        Length += count;
    }

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        Reserve(sizeHint);
        return Array.AsMemory(Length);
    }

    public Span<byte> GetSpan(int sizeHint = 0)
    {
        Reserve(sizeHint);
        return Array.AsSpan(Length);
    }

    /// <summary>Nothing that was written may be in use.</summary>
    public void Clear()
    {
        Length = 0;
        Return();
    }

    internal Span<byte> From(int offset) => Array.AsSpan(offset, Length - offset);

    internal void TruncateTo(int length) => Length = length;

    private void Reserve(int sizeHint)
    {
        var needed = checked(Length + Math.Max(sizeHint, 1));
        if (needed <= Array.Length) return;
        var larger = ArrayPool<byte>.Shared.Rent(Math.Max(needed, Array.Length * 2));
        WrittenSpan.CopyTo(larger);
        Return();
        _rented = larger;
    }

    private void Return()
    {
        if (_rented is null) return;
        ArrayPool<byte>.Shared.Return(_rented);
        _rented = null;
    }
}
