namespace Tango;

/// <summary>The handle shows a past state or a second view of an object, which can only be read.</summary>
public sealed class TangoReadOnlyException(string objectName)
    : TangoException($"This handle of '{objectName}' is read-only: open the object to change it")
{
    public string ObjectName { get; } = objectName;
}
