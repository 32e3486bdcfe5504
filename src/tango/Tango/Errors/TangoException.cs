namespace Tango;

/// <summary>Base of everything Tango throws for reasons other than wrong arguments.</summary>
public class TangoException : Exception
{
    public TangoException(string message)
        : base(message)
    {
    }

    public TangoException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }
}
