using System.Buffers;
using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Text;

namespace Tango.Formatting;

/// <summary>
/// Writes MessagePack values, each in its shortest form. <see cref="Flush"/> must be called at the end: what was
/// written before is not in the output until then.
/// </summary>
public ref struct MessagePackWriter
{
    private const int MinimumSpan = 256;
    private static readonly UTF8Encoding Utf8 = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    private readonly IBufferWriter<byte> _output;
    private readonly int _maxDepth;
    private Span<byte> _span;
    private int _used;
    private long _flushed;
    private int _depth;

    public MessagePackWriter(IBufferWriter<byte> output, MessagePackLimits? limits = null)
    {
        ArgumentNullException.ThrowIfNull(output);
        _output = output;
        _maxDepth = (limits ?? MessagePackLimits.Default).MaxDepth;
    }

    /// <summary>Bytes written so far, flushed or not.</summary>
    public readonly long Written => _flushed + _used;

    /// <summary>Hands what was written to the output. The writer can be used further.</summary>
    public void Flush()
    {
        if (_used > 0)
        {
            _output.Advance(_used);
            _flushed += _used;
            _used = 0;
        }
        _span = default;
    }

    /// <summary>Called by a formatter before it writes the parts of a value that may nest; bounds the recursion on
    /// cyclic values.</summary>
    public void Enter()
    {
        if (++_depth > _maxDepth)
            throw new TangoFormatException(FormatError.TooDeep,
                $"The value is nested deeper than {_maxDepth}, or contains itself");
    }

    public void Leave() => _depth--;

    public void WriteNil() => WriteByte(MessagePackCode.Nil);

    public void Write(bool value) => WriteByte(value ? MessagePackCode.True : MessagePackCode.False);

    public void Write(int value) => Write((long)value);

    public void Write(uint value) => Write((ulong)value);

    public void Write(long value)
    {
        if (value >= 0)
        {
            Write((ulong)value);
            return;
        }
        if (value >= -32)
            WriteByte(unchecked((byte)value));
        else if (value >= sbyte.MinValue)
            WriteCode(MessagePackCode.Int8, unchecked((byte)value));
        else if (value >= short.MinValue)
            WriteCode(MessagePackCode.Int16, unchecked((ushort)value));
        else if (value >= int.MinValue)
            WriteCode(MessagePackCode.Int32, unchecked((uint)value));
        else
            WriteCode(MessagePackCode.Int64, unchecked((ulong)value));
    }

    public void Write(ulong value)
    {
        if (value <= MessagePackCode.MaxFixInt)
            WriteByte((byte)value);
        else if (value <= byte.MaxValue)
            WriteCode(MessagePackCode.UInt8, (byte)value);
        else if (value <= ushort.MaxValue)
            WriteCode(MessagePackCode.UInt16, (ushort)value);
        else if (value <= uint.MaxValue)
            WriteCode(MessagePackCode.UInt32, (uint)value);
        else
            WriteCode(MessagePackCode.UInt64, value);
    }

    public void Write(float value) => WriteCode(MessagePackCode.Float32, BitConverter.SingleToUInt32Bits(value));

    public void Write(double value) => WriteCode(MessagePackCode.Float64, BitConverter.DoubleToUInt64Bits(value));

    /// <summary>Null is written as nil. Text that is not valid UTF-16 is refused: it would be another text when
    /// read.</summary>
    public void Write(string? value)
    {
        if (value is null)
        {
            WriteNil();
            return;
        }
        Write(value.AsSpan());
    }

    /// <inheritdoc cref="Write(string?)"/>
    public void Write(scoped ReadOnlySpan<char> value)
    {
        try
        {
            int length = Utf8.GetByteCount(value);
            WriteStringHeader(length);
            Utf8.GetBytes(value, Reserve(length));
            _used += length;
        }
        catch (EncoderFallbackException e)
        {
            throw new TangoFormatException(FormatError.Invalid, "The text has half of a surrogate pair",
                innerException: e);
        }
    }

    public void WriteStringHeader(int byteCount)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(byteCount);
        if (byteCount <= MessagePackCode.MaxFixStringBytes)
            WriteByte((byte)(MessagePackCode.FixString | byteCount));
        else if (byteCount <= byte.MaxValue)
            WriteCode(MessagePackCode.Str8, (byte)byteCount);
        else if (byteCount <= ushort.MaxValue)
            WriteCode(MessagePackCode.Str16, (ushort)byteCount);
        else
            WriteCode(MessagePackCode.Str32, (uint)byteCount);
    }

    public void WriteBinary(scoped ReadOnlySpan<byte> value)
    {
        WriteBinaryHeader(value.Length);
        WriteRaw(value);
    }

    public void WriteBinaryHeader(int byteCount)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(byteCount);
        if (byteCount <= byte.MaxValue)
            WriteCode(MessagePackCode.Bin8, (byte)byteCount);
        else if (byteCount <= ushort.MaxValue)
            WriteCode(MessagePackCode.Bin16, (ushort)byteCount);
        else
            WriteCode(MessagePackCode.Bin32, (uint)byteCount);
    }

    public void WriteArrayHeader(int count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        if (count <= MessagePackCode.MaxFixCount)
            WriteByte((byte)(MessagePackCode.FixArray | count));
        else if (count <= ushort.MaxValue)
            WriteCode(MessagePackCode.Array16, (ushort)count);
        else
            WriteCode(MessagePackCode.Array32, (uint)count);
    }

    public void WriteMapHeader(int count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        if (count <= MessagePackCode.MaxFixCount)
            WriteByte((byte)(MessagePackCode.FixMap | count));
        else if (count <= ushort.MaxValue)
            WriteCode(MessagePackCode.Map16, (ushort)count);
        else
            WriteCode(MessagePackCode.Map32, (uint)count);
    }

    /// <summary>The timestamp extension of the specification. A local time is written as UTC; an unspecified one is
    /// taken for UTC.</summary>
    public void Write(DateTime value)
    {
        if (value.Kind == DateTimeKind.Local) value = value.ToUniversalTime();
        long seconds = (value.Ticks / TimeSpan.TicksPerSecond) - (DateTime.UnixEpoch.Ticks / TimeSpan.TicksPerSecond);
        long nanoseconds = value.Ticks % TimeSpan.TicksPerSecond * TimeSpan.NanosecondsPerTick;
        if (seconds >> 34 != 0)
        {
            WriteCode(MessagePackCode.Ext8, 12);
            WriteByte(unchecked((byte)MessagePackCode.TimestampExtension));
            Span<byte> body = Reserve(12);
            BinaryPrimitives.WriteUInt32BigEndian(body, (uint)nanoseconds);
            BinaryPrimitives.WriteInt64BigEndian(body[4..], seconds);
            _used += 12;
            return;
        }
        ulong packed = ((ulong)nanoseconds << 34) | (ulong)seconds;
        bool isShort = packed <= uint.MaxValue;
        Span<byte> span = Reserve(10);
        span[0] = isShort ? MessagePackCode.FixExt4 : MessagePackCode.FixExt8;
        span[1] = unchecked((byte)MessagePackCode.TimestampExtension);
        if (isShort) BinaryPrimitives.WriteUInt32BigEndian(span[2..], (uint)packed);
        else BinaryPrimitives.WriteUInt64BigEndian(span[2..], packed);
        _used += isShort ? 6 : 10;
    }

    /// <summary>Copies bytes that already are MessagePack values (or the body that belongs to a header written
    /// before).</summary>
    public void WriteRaw(scoped ReadOnlySpan<byte> value)
    {
        value.CopyTo(Reserve(value.Length));
        _used += value.Length;
    }

    private void WriteByte(byte value)
    {
        Reserve(1)[0] = value;
        _used++;
    }

    private void WriteCode(byte code, byte value)
    {
        Span<byte> span = Reserve(2);
        span[0] = code;
        span[1] = value;
        _used += 2;
    }

    private void WriteCode(byte code, ushort value)
    {
        Span<byte> span = Reserve(3);
        span[0] = code;
        BinaryPrimitives.WriteUInt16BigEndian(span[1..], value);
        _used += 3;
    }

    private void WriteCode(byte code, uint value)
    {
        Span<byte> span = Reserve(5);
        span[0] = code;
        BinaryPrimitives.WriteUInt32BigEndian(span[1..], value);
        _used += 5;
    }

    private void WriteCode(byte code, ulong value)
    {
        Span<byte> span = Reserve(9);
        span[0] = code;
        BinaryPrimitives.WriteUInt64BigEndian(span[1..], value);
        _used += 9;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private Span<byte> Reserve(int count)
    {
        if (_span.Length - _used < count) Grow(count);
        return _span[_used..];
    }

    private void Grow(int count)
    {
        Flush();
        _span = _output.GetSpan(Math.Max(count, MinimumSpan));
    }
}
