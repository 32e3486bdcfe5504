using System.Buffers;

namespace Corfu.Protocol;

/// <summary>
/// A contiguous output buffer that frames are written straight into: <see cref="MessageCodec"/> comes back for a
/// frame's length, and takes a frame that failed back. Memory beyond what is kept for small frames is the shared
/// pool's, and goes back when the buffer is emptied.
/// </summary>
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

    /// <summary>Nothing that was written may be in use any more.</summary>
    public void Clear()
    {
        Length = 0;
        Return();
    }

    /// <summary>What was written from there on, to change it.</summary>
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
