namespace Tango;

/// <summary>
/// The update was sent but its outcome could not be learnt: it may take effect, now or later, or never. It is not
/// retried silently; read the object to find out.
/// </summary>
public sealed class TangoInDoubtException(string message, Exception? innerException = null)
    : TangoException(message, innerException);
