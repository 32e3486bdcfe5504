namespace Tango;

/// <summary>The log has no object, or no group, of that name.</summary>
public sealed class TangoObjectNotFoundException(string name, string message) : TangoDirectoryException(message)
{
    /// <summary>The name that was asked for.</summary>
    public string Name { get; } = name;
}
