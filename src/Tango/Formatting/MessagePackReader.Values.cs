using System.Buffers.Binary;
using System.Text;

namespace Tango.Formatting;

public ref partial struct MessagePackReader
{
    private const long UnixEpochSeconds = 62135596800;
    private static readonly UTF8Encoding Utf8 = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    /// <summary>Is the next value an integer written as a negative one? Those that are not may be above
    /// <see cref="long.MaxValue"/>.</summary>
    public bool NextIsNegative
    {
        get
        {
            MessagePackReader ahead = this;
            return NextType == MessagePackType.Integer && Peek() != MessagePackCode.UInt64 && ahead.ReadInt64() < 0;
        }
    }

    /// <summary>Is the next value one that <see cref="ReadDateTime"/> can read?</summary>
    public bool NextIsTimestamp
    {
        get
        {
            if (NextType != MessagePackType.Extension) return false;
            MessagePackReader ahead = this;
            ahead.ReadExtensionHeader(out sbyte type);
            return type == MessagePackCode.TimestampExtension;
        }
    }

    public bool ReadBoolean()
    {
        byte code = Next();
        return code switch
        {
            MessagePackCode.True => true,
            MessagePackCode.False => false,
            _ => throw WrongType(code, MessagePackType.Boolean),
        };
    }

    public long ReadInt64()
    {
        byte code = Next();
        if (code <= MessagePackCode.MaxFixInt) return code;
        switch (code)
        {
            case >= MessagePackCode.MinNegativeFixInt: return unchecked((sbyte)code);
            case MessagePackCode.UInt8: return Take(1)[0];
            case MessagePackCode.UInt16: return TakeUInt16();
            case MessagePackCode.UInt32: return TakeUInt32();
            case MessagePackCode.Int8: return unchecked((sbyte)Take(1)[0]);
            case MessagePackCode.Int16: return unchecked((short)TakeUInt16());
            case MessagePackCode.Int32: return unchecked((int)TakeUInt32());
            case MessagePackCode.Int64: return unchecked((long)TakeUInt64());
            case MessagePackCode.UInt64:
                ulong large = TakeUInt64();
                return large <= long.MaxValue ? (long)large : throw OutOfRange(large, typeof(long));
            default: throw WrongType(code, MessagePackType.Integer);
        }
    }

    public ulong ReadUInt64()
    {
        if (Peek() == MessagePackCode.UInt64)
        {
            _index++;
            return TakeUInt64();
        }
        long value = ReadInt64();
        return value >= 0 ? (ulong)value : throw OutOfRange(value, typeof(ulong));
    }

    public byte ReadByte() =>
        ReadInt64() is >= byte.MinValue and <= byte.MaxValue and var v ? (byte)v : throw OutOfRange(typeof(byte));

    public sbyte ReadSByte() =>
        ReadInt64() is >= sbyte.MinValue and <= sbyte.MaxValue and var v ? (sbyte)v : throw OutOfRange(typeof(sbyte));

    public short ReadInt16() =>
        ReadInt64() is >= short.MinValue and <= short.MaxValue and var v ? (short)v : throw OutOfRange(typeof(short));

    public ushort ReadUInt16() =>
        ReadInt64() is >= ushort.MinValue and <= ushort.MaxValue and var v
            ? (ushort)v
            : throw OutOfRange(typeof(ushort));

    public int ReadInt32() =>
        ReadInt64() is >= int.MinValue and <= int.MaxValue and var v ? (int)v : throw OutOfRange(typeof(int));

    public uint ReadUInt32() =>
        ReadInt64() is >= uint.MinValue and <= uint.MaxValue and var v ? (uint)v : throw OutOfRange(typeof(uint));

    public float ReadSingle()
    {
        byte code = Next();
        return code switch
        {
            MessagePackCode.Float32 => BitConverter.UInt32BitsToSingle(TakeUInt32()),
            _ => throw WrongType(code, MessagePackType.Float),
        };
    }

    /// <summary>Accepts a 32-bit float too: the wider type can hold it.</summary>
    public double ReadDouble()
    {
        byte code = Next();
        return code switch
        {
            MessagePackCode.Float64 => BitConverter.UInt64BitsToDouble(TakeUInt64()),
            MessagePackCode.Float32 => BitConverter.UInt32BitsToSingle(TakeUInt32()),
            _ => throw WrongType(code, MessagePackType.Float),
        };
    }

    public string? ReadString()
    {
        if (TryReadNil()) return null;
        ReadOnlySpan<byte> bytes = ReadUtf8();
        try
        {
            return Utf8.GetString(bytes);
        }
        catch (DecoderFallbackException e)
        {
            throw Error(FormatError.Invalid, "The text is not valid UTF-8", e);
        }
    }

    /// <summary>The UTF-8 bytes of a string, not checked; valid as long as the input is.</summary>
    public ReadOnlySpan<byte> ReadUtf8() => Take(ReadStringHeader());

    public byte[]? ReadBytes() => TryReadNil() ? null : ReadBinary().ToArray();

    /// <summary>The bytes of a binary value; valid as long as the input is.</summary>
    public ReadOnlySpan<byte> ReadBinary() => Take(ReadBinaryHeader());

    /// <summary>The body of an extension; valid as long as the input is.</summary>
    public ReadOnlySpan<byte> ReadExtension(out sbyte type) => Take(ReadExtensionHeader(out type));

    /// <summary>The timestamp extension, as UTC.</summary>
    public DateTime ReadDateTime()
    {
        int length = ReadExtensionHeader(out sbyte type);
        if (type != MessagePackCode.TimestampExtension)
            throw Error(FormatError.WrongType, $"Expected a timestamp, found extension {type}");
        ReadOnlySpan<byte> body = Take(length);
        long seconds;
        long nanoseconds = 0;
        switch (length)
        {
            case 4:
                seconds = BinaryPrimitives.ReadUInt32BigEndian(body);
                break;
            case 8:
                ulong packed = BinaryPrimitives.ReadUInt64BigEndian(body);
                nanoseconds = (long)(packed >> 34);
                seconds = (long)(packed & 0x3_ffff_ffff);
                break;
            case 12:
                nanoseconds = BinaryPrimitives.ReadUInt32BigEndian(body);
                seconds = BinaryPrimitives.ReadInt64BigEndian(body[4..]);
                break;
            default:
                throw Error(FormatError.Invalid, $"A timestamp has 4, 8 or 12 bytes, not {length}");
        }
        long maxSeconds = (DateTime.MaxValue.Ticks / TimeSpan.TicksPerSecond) - UnixEpochSeconds;
        if (nanoseconds > 999_999_999 || seconds < -UnixEpochSeconds || seconds > maxSeconds)
            throw Error(FormatError.OutOfRange, "The timestamp is outside the range of DateTime");
        long ticks = ((seconds + UnixEpochSeconds) * TimeSpan.TicksPerSecond)
            + (nanoseconds / TimeSpan.NanosecondsPerTick);
        return new DateTime(ticks, DateTimeKind.Utc);
    }

    private int ReadStringHeader()
    {
        byte code = Next();
        uint length = code switch
        {
            >= MessagePackCode.FixString and < MessagePackCode.Nil => (uint)(code & 0x1f),
            MessagePackCode.Str8 => Take(1)[0],
            MessagePackCode.Str16 => TakeUInt16(),
            MessagePackCode.Str32 => TakeUInt32(),
            _ => throw WrongType(code, MessagePackType.String),
        };
        return CheckLength(length);
    }

    private int ReadBinaryHeader()
    {
        byte code = Next();
        uint length = code switch
        {
            MessagePackCode.Bin8 => Take(1)[0],
            MessagePackCode.Bin16 => TakeUInt16(),
            MessagePackCode.Bin32 => TakeUInt32(),
            _ => throw WrongType(code, MessagePackType.Binary),
        };
        return CheckLength(length);
    }

    private int ReadExtensionHeader(out sbyte type)
    {
        byte code = Next();
        uint length = code switch
        {
            >= MessagePackCode.FixExt1 and <= MessagePackCode.FixExt16 => 1u << (code - MessagePackCode.FixExt1),
            MessagePackCode.Ext8 => Take(1)[0],
            MessagePackCode.Ext16 => TakeUInt16(),
            MessagePackCode.Ext32 => TakeUInt32(),
            _ => throw WrongType(code, MessagePackType.Extension),
        };
        type = unchecked((sbyte)Take(1)[0]);
        return CheckLength(length);
    }

    private readonly TangoFormatException OutOfRange(Type type) =>
        Error(FormatError.OutOfRange, $"The number does not fit {type.Name}");

    private readonly TangoFormatException OutOfRange(object value, Type type) =>
        Error(FormatError.OutOfRange, $"{value} does not fit {type.Name}");

    private ushort TakeUInt16() => BinaryPrimitives.ReadUInt16BigEndian(Take(2));

    private uint TakeUInt32() => BinaryPrimitives.ReadUInt32BigEndian(Take(4));

    private ulong TakeUInt64() => BinaryPrimitives.ReadUInt64BigEndian(Take(8));
}
