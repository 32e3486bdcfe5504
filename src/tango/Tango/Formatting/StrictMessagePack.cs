using System.Buffers;
using System.Text;

namespace Tango.Formatting;

/// <summary>Checks that MessagePack-CSharp's reader and writer lack and a replicated log needs.</summary>
/// <remarks>
/// The library reads a 32-bit count above 2^31 as a negative number, skips over such an array as if it were empty,
/// takes text where binary is expected, and replaces text that is not Unicode.
/// </remarks>
public static class StrictMessagePack
{
    private static readonly UTF8Encoding s_utf8 =
        new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    /// <summary>Whether the library throws it for bytes that are not what was asked for.</summary>
    public static bool IsDamage(Exception exception) =>
        exception is TangoFormatException or MessagePackSerializationException or EndOfStreamException
            or OverflowException;

    /// <summary>An array header that must announce exactly <paramref name="count"/> elements.</summary>
    public static void ReadArrayHeader(ref this MessagePackReader reader, int count)
    {
        int found = reader.ReadCount();
        if (found != count)
            throw new TangoFormatException(FormatError.OutOfRange, $"Expected an array of {count}, found {found}",
                reader.Consumed);
    }

    /// <summary>An array header: the number of elements that follow, at most the bytes that are left.</summary>
    public static int ReadCount(ref this MessagePackReader reader) => Checked(reader.ReadArrayHeader(), ref reader);

    /// <summary>A map header: the number of pairs that follow, each at least two of the bytes that are left.</summary>
    public static int ReadMapCount(ref this MessagePackReader reader) => Checked(reader.ReadMapHeader(), ref reader);

    /// <summary>A binary value; it points into the input if that is in one piece.</summary>
    public static ReadOnlyMemory<byte> ReadBinary(ref this MessagePackReader reader)
    {
        if (reader.NextMessagePackType != MessagePackType.Binary) throw WrongType(ref reader, MessagePackType.Binary);
        try
        {
            var bytes = reader.ReadBytes()!.Value;
            return bytes.IsSingleSegment ? bytes.First : bytes.ToArray();
        }
        catch (ArgumentOutOfRangeException e)
        {
            throw TooLong(ref reader, e);
        }
    }

    /// <summary>Text or nil.</summary>
    public static string? ReadText(ref this MessagePackReader reader)
    {
        if (reader.TryReadNil()) return null;
        try
        {
            return reader.TryReadStringSpan(out var utf8)
                ? s_utf8.GetString(utf8)
                : s_utf8.GetString(reader.ReadStringSequence()!.Value);
        }
        catch (DecoderFallbackException e)
        {
            throw new TangoFormatException(FormatError.Invalid, "The text is not valid UTF-8", reader.Consumed, e);
        }
        catch (ArgumentOutOfRangeException e)
        {
            throw TooLong(ref reader, e);
        }
    }

    /// <summary>Null is written as nil. Text that is not valid UTF-16 is refused: it would be another text when
    /// read.</summary>
    public static void WriteText(ref this MessagePackWriter writer, string? value)
    {
        if (value is null)
        {
            writer.WriteNil();
            return;
        }

        try
        {
            int length = s_utf8.GetByteCount(value);
            writer.WriteStringHeader(length);
            s_utf8.GetBytes(value, writer.GetSpan(length));
            writer.Advance(length);
        }
        catch (EncoderFallbackException e)
        {
            throw new TangoFormatException(FormatError.Invalid, "The text has half of a surrogate pair",
                innerException: e);
        }
    }

    /// <summary>Steps over one whole value, however deeply nested, without recursion.</summary>
    public static void SkipValue(ref this MessagePackReader reader)
    {
        for (long pending = 1; pending > 0; pending--)
        {
            long start = reader.Consumed;
            switch (reader.NextMessagePackType)
            {
                case MessagePackType.Array:
                    pending += reader.ReadCount();
                    break;
                case MessagePackType.Map:
                    pending += 2L * reader.ReadMapCount();
                    break;
                default:
                    SkipPlain(ref reader);
                    break;
            }

            if (reader.Consumed <= start) throw TooLong(ref reader, null);
        }
    }

    /// <summary>Whether no value from here to the end is nested deeper than <paramref name="depth"/> arrays and
    /// maps.</summary>
    internal static bool IsWithin(ref MessagePackReader reader, int depth)
    {
        // Values still to come at each level; the outermost ends with the input.
        Span<long> left = stackalloc long[depth + 1];
        int level = 0;
        while (!reader.End)
        {
            while (level > 0 && left[level] == 0) level--;
            left[level]--;
            long inner = reader.NextMessagePackType switch
            {
                MessagePackType.Array => reader.ReadCount(),
                MessagePackType.Map => 2L * reader.ReadMapCount(),
                _ => -1,
            };
            if (inner < 0) SkipPlain(ref reader);
            else if (++level > depth) return false;
            else left[level] = inner;
        }

        return true;
    }

    private static void SkipPlain(ref MessagePackReader reader)
    {
        try
        {
            reader.Skip();
        }
        catch (ArgumentOutOfRangeException e)
        {
            throw TooLong(ref reader, e);
        }
    }

    private static int Checked(int count, ref MessagePackReader reader) =>
        count >= 0 ? count : throw TooLong(ref reader, null);

    private static TangoFormatException TooLong(ref MessagePackReader reader, Exception? inner) =>
        new(FormatError.UnexpectedEnd, "A length is above 2^31", reader.Consumed, inner);

    private static TangoFormatException WrongType(ref MessagePackReader reader, MessagePackType expected) =>
        new(FormatError.WrongType, $"Expected {expected}, found {reader.NextMessagePackType}", reader.Consumed);
}
