using System.Buffers;
using System.Buffers.Binary;
using System.Text;

namespace Corfu.Protocol;

/// <summary>Little-endian fields into a buffer writer. Its mirror is <see cref="WireReader"/>.</summary>
/// <param name="version">The connection's version; formats with a version of their own leave it out.</param>
public ref struct WireWriter(IBufferWriter<byte> output, ushort version = 0)
{
    private readonly IBufferWriter<byte> _output = output;
    private Span<byte> _span;
    private int _used;

    /// <summary>The version that a message's body is written in.</summary>
    public ushort Version { get; } = version;

    /// <summary>Hands what was written to the underlying writer. Nothing is visible there before.</summary>
    public void Flush()
    {
        if (_used > 0) _output.Advance(_used);
        _used = 0;
        _span = default;
    }

    public void Byte(byte value) => Take(1)[0] = value;

    public void Bool(bool value) => Byte(value ? (byte)1 : (byte)0);

    public void UInt16(ushort value) => BinaryPrimitives.WriteUInt16LittleEndian(Take(2), value);

    public void Int32(int value) => BinaryPrimitives.WriteInt32LittleEndian(Take(4), value);

    public void UInt32(uint value) => BinaryPrimitives.WriteUInt32LittleEndian(Take(4), value);

    public void Int64(long value) => BinaryPrimitives.WriteInt64LittleEndian(Take(8), value);

    public void UInt64(ulong value) => BinaryPrimitives.WriteUInt64LittleEndian(Take(8), value);

    public void Guid(Guid value) => value.TryWriteBytes(Take(16));

    public void Epoch(Epoch value) => Int64(value.Value);

    /// <summary>The offset alone: the epoch of a position travels in the frame or is not known.</summary>
    public void Position(LogPosition value) => Int64(value.Offset);

    public void Stream(StreamId value) => UInt64(value.Value);

    public void Origin(EntryOrigin value)
    {
        Guid(value.Writer.Value);
        Int64(value.Sequence);
    }

    public void Address(NodeAddress value)
    {
        Guid(value.Id.Value);
        Endpoint(value.Endpoint);
    }

    /// <exception cref="ArgumentException">The host's name is longer than
    /// <see cref="MessageLimits.MaxHost"/>.</exception>
    public void Endpoint(NodeEndpoint value)
    {
        if (Encoding.UTF8.GetByteCount(value.Host) > MessageLimits.MaxHost)
            throw new ArgumentException($"A host name is longer than {MessageLimits.MaxHost} bytes.", nameof(value));
        Text(value.Host);
        UInt16((ushort)value.Port);
    }

    public void Positions(ImmutableArray<LogPosition> values) => Array(values, static (ref w, p) => w.Position(p));

    public void Streams(ImmutableArray<StreamId> values) => Array(values, static (ref w, s) => w.Stream(s));

    public void Tails(ImmutableArray<StreamTail> values) => Array(values, static (ref w, tail) =>
    {
        w.Stream(tail.Stream);
        w.Byte((byte)tail.Positions.Length);
        foreach (var position in tail.Positions) w.Position(position);
    });

    public void Array<T>(ImmutableArray<T> values, WriteElement<T> write)
    {
        Int32(values.Length);
        foreach (var value in values) write(ref this, value);
    }

    public void Bytes(ReadOnlySpan<byte> value)
    {
        Int32(value.Length);
        value.CopyTo(Take(value.Length));
    }

    public void Text(string value)
    {
        var length = Encoding.UTF8.GetByteCount(value);
        Int32(length);
        Encoding.UTF8.GetBytes(value, Take(length));
    }

    /// <summary>A text for people, cut to <see cref="MessageLimits.MaxReason"/>.</summary>
    public void Reason(string value) => Text(Cut(value));

    /// <summary>The text, up to the last character that ends within <see cref="MessageLimits.MaxReason"/>.</summary>
    internal static string Cut(string text)
    {
        if (Encoding.UTF8.GetByteCount(text) <= MessageLimits.MaxReason) return text;
        var (length, bytes) = (0, 0);
        foreach (var rune in text.EnumerateRunes())
        {
            bytes += rune.Utf8SequenceLength;
            if (bytes > MessageLimits.MaxReason) break;
            length += rune.Utf16SequenceLength;
        }

        return text[..length];
    }

    private Span<byte> Take(int count)
    {
        if (_span.Length - _used < count)
        {
            Flush();
            _span = _output.GetSpan(Math.Max(count, 256));
        }

        var slice = _span.Slice(_used, count);
        _used += count;
        return slice;
    }
}

public delegate void WriteElement<in T>(ref WireWriter w, T element);
