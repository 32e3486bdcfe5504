using System.Buffers;
using Tango.Formatting;

namespace Tango.Tests.Formatting;

internal static class Packed
{
    public static byte[] Write<T>(T value)
    {
        Closing.Of(typeof(T));
        return TangoFormatters.ToBytes(value).ToArray();
    }

    public static T Read<T>(byte[] bytes) => Whole<T>(new MessagePackReader(bytes));

    public static T ReadSegmented<T>(byte[] bytes, int segment) =>
        Whole<T>(new MessagePackReader(Segments(bytes, segment)));

    public static string Hex<T>(T value) => Convert.ToHexStringLower(Write(value));

    public static ReadOnlySequence<byte> Segments(byte[] bytes, int size)
    {
        var first = new Segment(bytes.AsMemory(0, Math.Min(size, bytes.Length)), 0);
        Segment last = first;
        for (int i = last.Memory.Length; i < bytes.Length; i += size)
            last = last.Append(bytes.AsMemory(i, Math.Min(size, bytes.Length - i)));
        last = last.Append(ReadOnlyMemory<byte>.Empty);
        return new ReadOnlySequence<byte>(first, 0, last, last.Memory.Length);
    }

    private static T Whole<T>(MessagePackReader reader)
    {
        Closing.Of(typeof(T));
        T value = TangoFormatters.Read<T>(ref reader);
        Assert.True(reader.End, "The value was read, but bytes are left");
        return value;
    }

    private sealed class Segment : ReadOnlySequenceSegment<byte>
    {
        public Segment(ReadOnlyMemory<byte> memory, long start)
        {
            Memory = memory;
            RunningIndex = start;
        }

        public Segment Append(ReadOnlyMemory<byte> memory)
        {
            var next = new Segment(memory, RunningIndex + Memory.Length);
            Next = next;
            return next;
        }
    }
}
