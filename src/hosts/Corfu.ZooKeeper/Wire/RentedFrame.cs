using System.Buffers;

namespace Corfu.ZooKeeper.Wire;

/// <summary>A copy of a frame in one piece.</summary>
internal readonly struct RentedFrame : IDisposable
{
    private readonly byte[] _buffer;
    private readonly int _length;

    private RentedFrame(byte[] buffer, int length) => (_buffer, _length) = (buffer, length);

    public ReadOnlySpan<byte> Span => _buffer.AsSpan(0, _length);

    /// <param name="frame">All its bytes have come.</param>
    public static RentedFrame Of(in ReadOnlySequence<byte> frame)
    {
        var length = (int)frame.Length;
        var buffer = ArrayPool<byte>.Shared.Rent(length);
        frame.CopyTo(buffer);
        return new RentedFrame(buffer, length);
    }

    public void Dispose() => ArrayPool<byte>.Shared.Return(_buffer);
}
