namespace Tango;

/// <summary>The directory has no such name, or has it with another type or group; or a member's type is not known to
/// this program.</summary>
public class TangoDirectoryException(string message) : TangoException(message)
{
    internal static TangoDirectoryException UnknownType(DirectoryEntry entry) => new(
        $"'{entry.Name}' is of type {entry.TypeName}, which this program does not know: add it to "
        + "TangoOptions.Types");
}
