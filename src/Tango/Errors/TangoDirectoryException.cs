namespace Tango;

/// <summary>The directory has no such name, or has it with another type or group; or a member's type is not known to
/// this program.</summary>
public class TangoDirectoryException(string message) : TangoException(message);
