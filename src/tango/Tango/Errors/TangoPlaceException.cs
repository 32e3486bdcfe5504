namespace Tango;

/// <summary>A place does not name a call of the object that was asked for it, or names one that another transaction has
/// not written yet.</summary>
public sealed class TangoPlaceException(string objectName, LogPlace place, string reason)
    : TangoException($"{place} is no place of a call of '{objectName}': {reason}")
{
    public string ObjectName { get; } = objectName;

    public LogPlace Place { get; } = place;
}
