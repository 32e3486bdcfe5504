using System.Buffers;
using System.Buffers.Binary;

namespace Corfu.ZooKeeper.Wire;

/// <summary>Frames: a length of 32 bits, and so many bytes.</summary>
internal static class Frames
{
    /// <summary>ZooKeeper's <c>jute.maxbuffer</c>.</summary>
    public const int MaxLength = 0xFFFFF;

    private const int HeadSize = sizeof(int);

    /// <summary>Takes the next frame, if all of it has come. Nothing is allocated, whatever its length says.</summary>
    /// <param name="input">Behind the frame, if there is one.</param>
    public static FrameState Take(
        ref ReadOnlySequence<byte> input, out ReadOnlySequence<byte> frame, int maxLength = MaxLength)
    {
        frame = default;
        if (!TryPeek(input, out var length)) return FrameState.Partial;
        if ((uint)length > (uint)maxLength) return FrameState.Malformed;
        if (input.Length - HeadSize < length) return FrameState.Partial;
        frame = input.Slice(HeadSize, length);
        input = input.Slice(HeadSize + length);
        return FrameState.Whole;
    }

    /// <summary>The first four bytes: a length, or a four-letter word. Every word is above
    /// <see cref="MaxLength"/>.</summary>
    public static bool TryPeek(in ReadOnlySequence<byte> input, out int head)
    {
        if (BinaryPrimitives.TryReadInt32BigEndian(input.FirstSpan, out head)) return true;
        if (input.Length < HeadSize) return false;
        Span<byte> bytes = stackalloc byte[HeadSize];
        input.Slice(0, HeadSize).CopyTo(bytes);
        head = BinaryPrimitives.ReadInt32BigEndian(bytes);
        return true;
    }
}

internal enum FrameState
{
    /// <summary>More bytes are needed.</summary>
    Partial,

    Whole,

    /// <summary>The length is negative or above the limit: the connection cannot go on.</summary>
    Malformed,
}
