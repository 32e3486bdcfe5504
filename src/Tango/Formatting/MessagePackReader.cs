using System.Buffers;
using System.Runtime.CompilerServices;

namespace Tango.Formatting;

/// <summary>
/// Reads MessagePack values. Everything read is checked; what is wrong is a <see cref="TangoFormatException"/>, and
/// nothing is allocated on the word of a length field alone. After an exception the reader must not be used further.
/// </summary>
public ref partial struct MessagePackReader
{
    private readonly MessagePackLimits _limits;
    private readonly long _length;
    private readonly ReadOnlySequence<byte> _sequence;
    private ReadOnlySpan<byte> _span;
    private int _index;
    private SequencePosition _next;
    // Bytes in segments before _span; Consumed = _before + _index.
    private long _before;
    private int _depth;

    public MessagePackReader(ReadOnlySpan<byte> input, MessagePackLimits? limits = null)
    {
        _limits = limits ?? MessagePackLimits.Default;
        _span = input;
        _length = input.Length;
    }

    public MessagePackReader(ReadOnlyMemory<byte> input, MessagePackLimits? limits = null)
        : this(input.Span, limits)
    {
    }

    public MessagePackReader(in ReadOnlySequence<byte> input, MessagePackLimits? limits = null)
    {
        _limits = limits ?? MessagePackLimits.Default;
        _length = input.Length;
        if (input.IsSingleSegment)
        {
            _span = input.FirstSpan;
            return;
        }
        _sequence = input;
        _next = input.Start;
    }

    public readonly long Consumed => _before + _index;

    public readonly long Remaining => _length - Consumed;

    public readonly bool End => Remaining == 0;

    /// <summary>The type of the next value, which is not consumed.</summary>
    public MessagePackType NextType => MessagePackCode.TypeOf(Peek());

    /// <summary>Called by a formatter before it reads the parts of a value that may nest.</summary>
    public void Enter()
    {
        if (++_depth > _limits.MaxDepth) throw Error(FormatError.TooDeep, $"Nested deeper than {_limits.MaxDepth}");
    }

    public void Leave() => _depth--;

    /// <summary>Consumes a nil if that is next.</summary>
    public bool TryReadNil()
    {
        if (Peek() != MessagePackCode.Nil) return false;
        _index++;
        return true;
    }

    /// <summary>The number of elements that follow; never more than there are bytes left.</summary>
    public int ReadArrayHeader()
    {
        byte code = Next();
        uint count = code switch
        {
            >= MessagePackCode.FixArray and < MessagePackCode.FixString => (uint)(code & 0x0f),
            MessagePackCode.Array16 => TakeUInt16(),
            MessagePackCode.Array32 => TakeUInt32(),
            _ => throw WrongType(code, MessagePackType.Array),
        };
        return CheckCount(count, 1);
    }

    /// <summary>An array header that must announce exactly <paramref name="count"/> elements.</summary>
    public void ReadArrayHeader(int count)
    {
        int found = ReadArrayHeader();
        if (found != count) throw Error(FormatError.OutOfRange, $"Expected an array of {count}, found {found}");
    }

    /// <summary>The number of pairs that follow; two bytes at least are left for each.</summary>
    public int ReadMapHeader()
    {
        byte code = Next();
        uint count = code switch
        {
            >= MessagePackCode.FixMap and < MessagePackCode.FixArray => (uint)(code & 0x0f),
            MessagePackCode.Map16 => TakeUInt16(),
            MessagePackCode.Map32 => TakeUInt32(),
            _ => throw WrongType(code, MessagePackType.Map),
        };
        return CheckCount(count, 2);
    }

    /// <summary>Steps over one whole value, however deeply nested, without recursion.</summary>
    public void Skip()
    {
        for (long pending = 1; pending > 0; pending--)
        {
            byte code = Peek();
            switch (MessagePackCode.TypeOf(code))
            {
                case MessagePackType.Nil or MessagePackType.Boolean:
                    _index++;
                    break;
                case MessagePackType.Integer:
                    _index++;
                    Advance(IntegerBytes(code));
                    break;
                case MessagePackType.Float:
                    _index++;
                    Advance(code == MessagePackCode.Float32 ? 4 : 8);
                    break;
                case MessagePackType.String:
                    Advance(ReadStringHeader());
                    break;
                case MessagePackType.Binary:
                    Advance(ReadBinaryHeader());
                    break;
                case MessagePackType.Array:
                    pending += ReadArrayHeader();
                    break;
                case MessagePackType.Map:
                    pending += 2L * ReadMapHeader();
                    break;
                case MessagePackType.Extension:
                    Advance(ReadExtensionHeader(out _));
                    break;
                default:
                    throw Error(FormatError.Invalid, "0xc1 starts no value");
            }
        }
    }

    /// <summary>The bytes of the next value, unread. They stay valid as long as the input does.</summary>
    public ReadOnlySpan<byte> ReadRaw()
    {
        MessagePackReader start = this;
        Skip();
        return start.Take((int)(Consumed - start.Consumed));
    }

    /// <summary>An exception that names the current offset, for formatters.</summary>
    public readonly TangoFormatException Error(FormatError error, string message, Exception? inner = null) =>
        new(error, message, Consumed, inner);

    private static int IntegerBytes(byte code) => code switch
    {
        MessagePackCode.UInt8 or MessagePackCode.Int8 => 1,
        MessagePackCode.UInt16 or MessagePackCode.Int16 => 2,
        MessagePackCode.UInt32 or MessagePackCode.Int32 => 4,
        MessagePackCode.UInt64 or MessagePackCode.Int64 => 8,
        _ => 0,
    };

    private readonly int CheckCount(uint count, int bytesEach)
    {
        if (count * (long)bytesEach > Remaining)
            throw Error(FormatError.UnexpectedEnd, $"A count of {count} does not fit in the {Remaining} bytes left");
        if (count > _limits.MaxCount)
            throw Error(FormatError.TooLong, $"A count of {count} is above the limit of {_limits.MaxCount}");
        return (int)count;
    }

    private readonly int CheckLength(uint length)
    {
        if (length > Remaining)
            throw Error(FormatError.UnexpectedEnd, $"A length of {length} does not fit in the {Remaining} bytes left");
        if (length > _limits.MaxBytes)
            throw Error(FormatError.TooLong, $"A length of {length} is above the limit of {_limits.MaxBytes}");
        return (int)length;
    }

    private readonly TangoFormatException WrongType(byte code, MessagePackType expected) =>
        Error(FormatError.WrongType, $"Expected {expected}, found {MessagePackCode.TypeOf(code)} (0x{code:x2})");

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private byte Peek()
    {
        if (_index == _span.Length) NextSegment();
        return _span[_index];
    }

    private byte Next()
    {
        byte code = Peek();
        _index++;
        return code;
    }

    private void NextSegment()
    {
        if (Remaining == 0) throw Error(FormatError.UnexpectedEnd, "The input ends where a value should start");
        do
        {
            _before += _span.Length;
            _index = 0;
            _sequence.TryGet(ref _next, out ReadOnlyMemory<byte> memory);
            _span = memory.Span;
        }
        while (_span.IsEmpty);
    }

    /// <summary>The next bytes: a slice of the input, or a copy when they lie across segments.</summary>
    private ReadOnlySpan<byte> Take(int count)
    {
        if (_span.Length - _index < count) return TakeAcross(count);
        ReadOnlySpan<byte> taken = _span.Slice(_index, count);
        _index += count;
        return taken;
    }

    private ReadOnlySpan<byte> TakeAcross(int count)
    {
        if (Remaining < count)
            throw Error(FormatError.UnexpectedEnd, $"The input ends {count - Remaining} bytes too early");
        var copy = new byte[count];
        for (int done = 0; done < count;)
        {
            if (_index == _span.Length) NextSegment();
            int part = Math.Min(count - done, _span.Length - _index);
            _span.Slice(_index, part).CopyTo(copy.AsSpan(done));
            _index += part;
            done += part;
        }
        return copy;
    }

    private void Advance(int count)
    {
        if (Remaining < count)
            throw Error(FormatError.UnexpectedEnd, $"The input ends {count - Remaining} bytes too early");
        while (count > 0)
        {
            if (_index == _span.Length) NextSegment();
            int part = Math.Min(count, _span.Length - _index);
            _index += part;
            count -= part;
        }
    }
}
