using System.Buffers.Binary;

namespace Corfu.Protocol;

/// <summary>The fixed part of a frame (<see cref="MessageCodec"/> gives the layout).</summary>
public readonly record struct FrameHeader(int BodyLength, uint Correlation, Epoch Epoch, Opcode Opcode, Status Status)
{
    /// <summary>
    /// Parses the first <see cref="MessageCodec.HeaderSize"/> bytes. The length is checked against
    /// <see cref="MessageLimits.MaxFrame"/> before anybody allocates for it.
    /// </summary>
    public static FrameHeader Parse(ReadOnlySpan<byte> span)
    {
        var length = BinaryPrimitives.ReadUInt32LittleEndian(span);
        if (length < MessageCodec.HeaderSize - MessageCodec.LengthSize || length > MessageLimits.MaxFrame)
            throw new MalformedDataException($"A frame states a length of {length}.");
        var epoch = BinaryPrimitives.ReadInt64LittleEndian(span[8..]);
        if (epoch < 0) throw new MalformedDataException("A frame states a negative epoch.");
        return new FrameHeader(
            (int)length - (MessageCodec.HeaderSize - MessageCodec.LengthSize),
            BinaryPrimitives.ReadUInt32LittleEndian(span[4..]),
            new Epoch(epoch),
            (Opcode)span[16],
            (Status)span[17]);
    }
}
