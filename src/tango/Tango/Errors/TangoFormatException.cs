using Tango.Formatting;

namespace Tango;

/// <summary>Bytes from the log, or a value to be written to it, do not have the expected form, or a type has no
/// formatter.</summary>
public class TangoFormatException : TangoException
{
    public TangoFormatException(string message)
        : this(FormatError.Invalid, message)
    {
    }

    public TangoFormatException(string message, Exception? innerException)
        : this(FormatError.Invalid, message, -1, innerException)
    {
    }

    public TangoFormatException(FormatError error, string message, long offset = -1, Exception? innerException = null)
        : base(offset < 0 ? message : $"{message} (at byte {offset})", innerException)
    {
        Error = error;
        Offset = offset;
    }

    /// <summary>Turns an exception of a formatter or of MessagePack-CSharp into one of these.</summary>
    public static TangoFormatException Of(Exception exception, long offset = -1)
    {
        if (exception is TangoFormatException typed) return typed;
        var error = exception switch
        {
            FormatterNotRegisteredException => FormatError.NoFormatter,
            MessagePackSerializationException => FormatError.WrongType,
            EndOfStreamException => FormatError.UnexpectedEnd,
            OverflowException or ArgumentOutOfRangeException => FormatError.OutOfRange,
            InsufficientExecutionStackException => FormatError.TooDeep,
            _ => FormatError.Invalid,
        };
        return new TangoFormatException(error, exception.Message, offset, exception);
    }

    public FormatError Error { get; }

    /// <summary>Byte offset in the input where it was noticed; -1 when not reading.</summary>
    public long Offset { get; }
}
