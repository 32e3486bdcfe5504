namespace Tango;

/// <summary>The directory knows the name with another type or group, or a member's type is not known to this
/// program.</summary>
public sealed class TangoDirectoryException(string message) : TangoException(message);
