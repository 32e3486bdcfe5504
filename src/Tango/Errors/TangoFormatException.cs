namespace Tango;

/// <summary>Bytes from the log, or a value to be written to it, do not have the expected form.</summary>
public class TangoFormatException : TangoException
{
    public TangoFormatException(string message)
        : base(message)
    {
    }

    public TangoFormatException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }
}
